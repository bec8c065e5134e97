"""Apache Kafka 4.4 and pykbroker answer 1707 requests about records alike, error by error.

Produce, Fetch with sessions, ListOffsets, OffsetForLeaderEpoch, DeleteRecords, InitProducerId,
DescribeProducers and DescribeLogDirs, in every version: see data_plane_script.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pykbroker.testing import Broker
from tests.harness.answers import Transcript, check_answers
from tests.harness.apache import ApacheBroker
from tests.interop import data_plane_script

KNOWN = {
    r"Produce v\d+ the largest sequence": "it repeats the producer's last batch but one: after a "
    "restart Apache answers OUT_OF_ORDER_SEQUENCE_NUMBER, and we find it in the log"
}


def test_every_answer_is_apaches_also_after_a_restart() -> None:
    with ApacheBroker() as apache, Broker() as broker, ThreadPoolExecutor() as players:
        expected = players.submit(played, apache)
        ours, ours_again = played(broker)
        theirs, theirs_again = expected.result()
    assert len(theirs) > 1500
    check_answers(theirs, ours)
    assert check_answers(theirs_again, ours_again, KNOWN) == set(KNOWN)


def played(broker: Broker | ApacheBroker) -> tuple[Transcript, Transcript]:
    """What it answers before and after a restart."""
    first = data_plane_script.play(broker.bootstrap_servers)
    broker.restart()
    return first, data_plane_script.play_again(broker.bootstrap_servers)
