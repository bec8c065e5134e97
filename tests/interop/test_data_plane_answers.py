"""Apache Kafka 4.4 and pykbroker answer 1552 requests about records alike, error by error.

Produce, Fetch with sessions, ListOffsets, OffsetForLeaderEpoch, DeleteRecords, InitProducerId,
DescribeProducers and DescribeLogDirs, in every version: see data_plane_script.
"""

from __future__ import annotations

from typing import Any

from pykbroker.testing import Broker
from tests.harness.apache import ApacheBroker
from tests.interop import data_plane_script

# Where we answer otherwise, on purpose: the end of the line's label, and why.
KNOWN = {
    # Apache's broker has a transaction coordinator that might come up: it has the client try again.
    "transactional, with an id that nobody knows": "without transactions it is final",
}


def test_every_answer_is_apaches_also_after_a_restart() -> None:
    with ApacheBroker() as apache:
        theirs = data_plane_script.play(apache.bootstrap_servers)
        apache.restart()
        theirs_again = data_plane_script.play_again(apache.bootstrap_servers)
    with Broker() as broker:
        ours = data_plane_script.play(broker.bootstrap_servers)
        broker.restart()
        ours_again = data_plane_script.play_again(broker.bootstrap_servers)
    assert len(theirs) > 1500
    assert surprises(theirs, ours) == []
    assert surprises(theirs_again, ours_again) == []


def surprises(theirs: list[tuple[str, Any]], ours: list[tuple[str, Any]]) -> list[str]:
    assert [label for label, _ in ours] == [label for label, _ in theirs]
    return [
        f"{label}\n   apache {expected}\n   ours   {found}"
        for (label, expected), (_, found) in zip(theirs, ours, strict=True)
        if found != expected and not label.endswith(tuple(KNOWN))
    ]
