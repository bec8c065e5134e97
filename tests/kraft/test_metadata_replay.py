"""Records become stable images; a metadata transaction shows as a whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.delta import InconsistentMetadata
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord
from pykbroker.protocol.messages.topic_record import TopicRecord

BEGIN, END = BeginTransactionRecord(name="x"), EndTransactionRecord()
ABORT = AbortTransactionRecord(reason="")


def topic(name: str) -> TopicRecord:
    return TopicRecord(name=name, topic_id=name.encode() * 16)


class Log:
    def __init__(self) -> None:
        self.replay = MetadataReplay(MetadataImage())
        self.offset = 0

    def add(self, *messages: Any) -> list[list[str]]:
        """Names of the topics in each stable image that this makes."""
        records = [MetadataRecord(message) for message in messages]
        steps = self.replay.replay(records, self.offset, 1, 100)
        self.offset += len(records)
        sealed = self.replay.seal()
        if sealed is not None:
            steps.append(sealed)
        return [sorted(step.image.topics_by_name) for step in steps]

    @property
    def latest(self) -> list[str]:
        return sorted(self.replay.latest().topics_by_name)


def test_a_transaction_shows_when_it_has_ended() -> None:
    log = Log()
    assert log.add(topic("a")) == [["a"]]
    assert log.add(topic("b"), BEGIN, topic("c")) == [["a", "b"]]
    assert log.replay.stable.provenance == (1, 1, 100)
    assert log.latest == ["a", "b", "c"]
    assert log.replay.latest().provenance.offset == 3
    assert log.add(topic("d")) == []
    assert log.add(END) == [["a", "b", "c", "d"]]


def test_an_aborted_transaction_leaves_nothing() -> None:
    log = Log()
    log.add(BEGIN, topic("a"))
    assert log.add(ABORT, topic("b")) == [["b"]]
    assert log.latest == ["b"]


def test_a_copy_continues_inside_a_transaction_and_leaves_the_original_alone() -> None:
    log = Log()
    log.add(topic("a"))
    log.add(BEGIN, topic("b"))
    twin = log.replay.copy()
    twin.replay([MetadataRecord(topic("c")), MetadataRecord(END)], log.offset, 1, 100)
    twin.seal()
    assert sorted(twin.stable.topics_by_name) == ["a", "b", "c"]
    assert log.latest == ["a", "b"]
    log.add(ABORT)
    assert log.latest == ["a"]
    assert sorted(twin.stable.topics_by_name) == ["a", "b", "c"]


def test_a_copy_outside_a_transaction_shares_the_image() -> None:
    log = Log()
    log.add(topic("a"))
    assert log.replay.copy().stable is log.replay.stable
    assert log.replay.copy().latest() is log.replay.stable


def test_unsealed_changes_cannot_be_copied() -> None:
    log = Log()
    log.replay.replay([MetadataRecord(topic("a"))], 0, 1, 0)
    with pytest.raises(RuntimeError):
        log.replay.copy()


@pytest.mark.parametrize("messages", [[END], [ABORT], [BEGIN, BEGIN]])
def test_markers_without_a_partner_are_refused(messages: list[Any]) -> None:
    with pytest.raises(InconsistentMetadata):
        Log().add(*messages)
