"""Apache Kafka 4.4 and pykbroker answer some 1700 requests about transactions alike.

InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, WriteTxnMarkers,
DescribeTransactions, ListTransactions, DescribeProducers, FindCoordinator, Produce, Fetch,
ListOffsets and OffsetFetch, in every version, under each transaction.version, also after a restart:
see transaction_script.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pykbroker.cli.main import main
from pykbroker.testing import Broker
from tests.harness.answers import Transcript, check_answers
from tests.harness.apache import ApacheBroker
from tests.harness.ways import ways
from tests.interop import transaction_script

# Where we answer otherwise, on purpose: a pattern of the label, and why.
KNOWN = {
    ".*ListTransactions v2 a pattern that RE2 has not": "patterns are Python's",
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("transaction_version", ways([2], [0, 1]))
def test_every_answer_is_apaches_also_after_a_restart(
    tmp_path: Path, transaction_version: int
) -> None:
    features = (f"transaction.version={transaction_version}",)
    data_dir = formatted(tmp_path, features[0])
    with (  # side by side: both wait for transactions that take too long
        ApacheBroker(config=transaction_script.CONFIG, features=features) as apache,
        Broker(data_dir=data_dir, overrides=transaction_script.CONFIG) as broker,
        ThreadPoolExecutor() as players,
    ):
        expected = players.submit(played, apache, transaction_version)
        ours = played(broker, transaction_version)
        theirs = expected.result()
    assert len(theirs) > 1500
    needed = check_answers(theirs, ours, KNOWN)
    assert needed == set(KNOWN), "we answer as Apache does there: take it off the list"


def played(broker: Broker | ApacheBroker, transaction_version: int) -> Transcript:
    first = transaction_script.play(broker.bootstrap_servers, transaction_version)
    broker.restart()
    return first + transaction_script.play_again(broker.bootstrap_servers, transaction_version)


def formatted(directory: Path, feature: str) -> Path:
    """A log directory in whose cluster the feature has that level."""
    data_dir = directory / "data"
    file = directory / "server.properties"
    file.write_text(
        "process.roles=broker,controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:9093\n"
        f"controller.quorum.bootstrap.servers=127.0.0.1:9093\nlog.dirs={data_dir}\n"
    )
    arguments = ("-t", "5L6g3nShT-eMCtK--X86sw", "-c", str(file), "--feature", feature)
    assert main(["storage", "format", *arguments]) == 0
    return data_dir
