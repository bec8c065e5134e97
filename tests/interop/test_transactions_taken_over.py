"""Transactions in every state go from Apache Kafka 4.4 to pykbroker and back, with the directory.

The same conversation is held three times: Apache's node hands its directory to Apache's, Apache's
to ours, and ours to Apache's; and the first one gets it back. Every answer must be the same: open
transactions, decided ones whose markers are missing, pending offsets, fenced and overdue producers,
and each record that is read, in both isolation levels.

PYKBROKER_ALL_WAYS=1 does so under every transaction.version, after a kill and after a stop.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pykbroker.cli.main import main
from pykbroker.testing import Broker
from tests.harness.answers import Transcript, check_answers
from tests.harness.apache import UNBUILT_FEATURES, ApacheBroker
from tests.harness.ways import ways
from tests.interop.transaction_play import Play
from tests.interop.transaction_script import CONFIG
from tests.interop.transaction_takeover import Producers, arrive, come_back, leave

WAYS = ways([(2, "killed")], [(2, "stopped"), (1, "killed"), (0, "killed"), (0, "stopped")])

# A slow machine may cost a node its session, and lead to one election more.
ELECTIONS = re.compile(r"(coordinator_epoch'?[:=] ?)\d+")

Node = Any  # ApacheBroker or Broker


def ours(apache: ApacheBroker) -> Broker:
    """A node of ours on the directory and the ports of `apache`."""
    controller = f"127.0.0.1:{apache.controller_port}"
    overrides = {
        "listeners": f"PLAINTEXT://{apache.bootstrap_servers},CONTROLLER://{controller}",
        "controller.quorum.bootstrap.servers": controller,
        **CONFIG,
    }
    return Broker(data_dir=apache.data_dir, overrides=overrides)


def format_as_ours(apache: ApacheBroker, feature: str) -> None:
    arguments = ("-t", "5L6g3nShT-eMCtK--X86sw", "-c", str(apache.properties), "--standalone")
    assert main(["storage", "format", *arguments, "--feature", feature]) == 0


def life(directory: Path, first: str, second: str, version: int, ending: str) -> Transcript:
    """What the nodes of one directory answer, one after the other."""
    feature = f"transaction.version={version}"
    features = (*UNBUILT_FEATURES, feature)
    apache = ApacheBroker(directory / "data", config=CONFIG, features=features)
    kinds: dict[str, Node] = {"apache": apache, "ours": ours(apache)}
    heard = []
    try:
        if first == "ours":
            format_as_ours(apache, feature)
        made: Producers = {}
        for kind, part in ((first, leave), (second, arrive), (first, come_back)):
            node = kinds[kind]
            node.start()
            play = Play(node.bootstrap_servers, version)
            part(play, made)
            assert kind == "apache" or not play.skipped
            node.stop() if ending == "stopped" else node.kill()
            play.client.close()
            heard += play.heard
        assert "Traceback" not in kinds["ours"].log_text
    finally:
        kinds["ours"].kill()
        apache.close()
    return [(label, ELECTIONS.sub(r"\1N", str(answer))) for label, answer in heard]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("version", "ending"), WAYS)
def test_every_answer_is_as_if_apache_had_kept_them(
    tmp_path: Path, version: int, ending: str
) -> None:
    pairs = (("apache", "apache"), ("apache", "ours"), ("ours", "apache"))
    with ThreadPoolExecutor() as pool:  # most of their time the nodes wait
        lives = [
            pool.submit(life, tmp_path / f"{first}-{second}", first, second, version, ending)
            for first, second in pairs
        ]
    expected, *others = [each.result() for each in lives]
    assert len(expected) > 200
    for state in ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteAbort"):
        assert any(f"'transaction_state': '{state}'" in each for _, each in expected)
    for found in others:
        check_answers(expected, found)
