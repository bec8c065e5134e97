"""Which requests of fetch sessions are prepared for, and which are served so."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.prepared import session_fetch, session_read
from pykbroker.broker.requests import fetching
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from pykbroker.protocol.messages.fetch_response import FetchResponse
from tests.broker.prepared.test_fetch import Node, fetch, sizes
from tests.harness.records import partition_record
from tests.replication.node import topic_id_of

VERSIONS = range(7, 19)
BATCH = 61 + 109
ALL_AT_END = [(0, 1), (1, 1), (2, 1)]


class SessionNode(Node):
    """A node and a consumer with a session over all three partitions, at their ends."""

    def __init__(self, version: int = 17, **fields: Any) -> None:
        super().__init__()
        self.version = version
        self.fields = fields
        self.epoch = 0
        reply = self.ask_for(*ALL_AT_END)
        if reply is None:
            reply = self.after_the_longest_wait()
        assert sizes(reply) == [(0, 1, 0), (1, 1, 0), (2, 1, 0)]
        assert reply is not None
        self.session_id = reply.session_id
        assert self.session_id

    def ask_for(self, *asked: tuple[int, int], **fields: Any) -> FetchResponse | None:
        """The answer to the next request of the session, if it comes at once."""
        wanted: dict[str, Any] = {
            "session_id": self.session_id if self.epoch else 0,
            "session_epoch": self.epoch,
        }
        if not asked:
            wanted["topics"] = []
        self.epoch += 1
        return self.ask(fetch(self.version, *asked, **self.fields | wanted | fields), self.version)

    def append(self, index: int) -> None:
        partition = self.broker.replica_manager.find("t", index)
        assert partition is not None
        self.broker.node.append(partition, b"v" * 100)

    def after_the_longest_wait(self) -> FetchResponse:
        self.broker.node.now_ms += 500
        self.broker.purgatory.advance(self.broker.node.now_ms)
        return self.sent()

    def sent(self) -> FetchResponse:
        """The answer that has come meanwhile."""
        reply = self.ask(b"", self.version)
        assert reply is not None
        return reply


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation_level", [0, 1])
def test_all_but_the_first_request_are_served_without_being_decoded(
    version: int, isolation_level: int
) -> None:
    node = SessionNode(version, max_wait_ms=0, isolation_level=isolation_level)
    assert sizes(node.ask_for()) == []
    node.append(1)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    assert sizes(node.ask_for((1, 2))) == []
    node.append(0)
    node.append(2)
    assert sizes(node.ask_for()) == [(0, 2, BATCH), (2, 2, BATCH)]
    assert sizes(node.ask_for((0, 1), (2, 2))) == [(0, 2, BATCH)]
    assert node.general == 1


def test_a_long_poll_is_answered_with_what_comes() -> None:
    node = SessionNode(max_wait_ms=500)
    assert node.ask_for() is None
    node.append(2)
    assert sizes(node.sent()) == [(2, 2, BATCH)]
    assert node.general == 1


def test_a_long_poll_that_ends_empty() -> None:
    node = SessionNode(max_wait_ms=500)
    assert node.ask_for() is None
    reply = node.after_the_longest_wait()
    assert (reply.session_id, reply.responses) == (node.session_id, [])
    assert node.general == 1


def test_a_long_poll_ends_when_its_client_goes() -> None:
    node = SessionNode(max_wait_ms=500)
    assert node.ask_for() is None
    assert len(node.broker.purgatory) == 1
    node.connections[1].close()
    assert len(node.broker.purgatory) == 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"session_id": 99}, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        ({"session_epoch": 7}, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    ],
)
def test_what_the_session_refuses_is_the_general_paths(
    fields: dict[str, Any], code: ErrorCode
) -> None:
    node = SessionNode(max_wait_ms=0)
    reply = node.ask_for(**fields)
    assert reply is not None
    assert reply.error_code == code
    assert node.general == 2
    node.epoch = 1
    assert sizes(node.ask_for()) == []
    assert node.general == 2


def test_forgotten_partitions_are_the_general_paths() -> None:
    node = SessionNode(max_wait_ms=0)
    forgotten = [ForgottenTopic(topic_id=topic_id_of(7), partitions=[1])]
    assert sizes(node.ask_for(forgotten_topics_data=forgotten)) == []
    assert node.general == 2
    node.append(1)
    assert sizes(node.ask_for()) == []
    assert node.general == 2


def test_errors_of_partitions_are_told() -> None:
    node = SessionNode(max_wait_ms=0)
    unknown = FetchTopic(topic_id=topic_id_of(77), partitions=[])
    topics = [*topics_of((1, 50)), unknown]
    unknown.partitions = topics_of((0, 0))[0].partitions
    reply = node.ask_for((1, 50), topics=topics)
    assert reply is not None
    codes = [p.error_code for topic in reply.responses for p in topic.partitions]
    assert codes == [ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_ID]
    assert node.general == 1


def topics_of(*asked: tuple[int, int]) -> list[FetchTopic]:
    parts = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
        for index, offset in asked
    ]
    return [FetchTopic(topic_id=topic_id_of(7), partitions=parts)]


def test_the_configured_limit_counts_as_it_is_now() -> None:
    node = SessionNode(max_wait_ms=0)
    node.append(0)
    node.append(1)
    config = node.broker.config
    node.broker.config = SimpleNamespace(fetch_max_bytes=1)  # type: ignore[assignment]
    assert sizes(node.ask_for()) == [(0, 2, BATCH), (1, 2, 0)]
    node.broker.config = config
    assert sizes(node.ask_for()) == [(1, 2, BATCH), (0, 2, BATCH)]
    assert node.general == 1


def test_very_many_partitions_are_read_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    node = SessionNode(max_wait_ms=0)
    monkeypatch.setattr(fetching, "MANY", 2)
    monkeypatch.setattr(session_fetch, "MANY", 2)
    monkeypatch.setattr(session_read, "MOST_PARTITIONS", 2)
    node.append(1)
    assert node.ask_for() is None
    long_requests: Any = node.worker._long
    long_requests._threads.finish()  # encodes the answer
    assert sizes(node.sent()) == [(1, 2, BATCH)]
    assert node.general == 1


def test_more_partitions_than_are_remembered_are_answered_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_fetch, "MOST_TEMPLATES", 1)
    node = SessionNode(max_wait_ms=0)
    for index in (1, 2, 1):
        node.append(index)
        expected = [(1, 2, BATCH), (2, 2, BATCH), (1, 3, BATCH)]
        reply = sizes(node.ask_for())
        assert len(reply) == 1
        assert reply[0] in expected
        assert sizes(node.ask_for((index, reply[0][1]))) == []
    assert node.general == 1


def test_another_session_on_the_connection_is_served_too() -> None:
    node = SessionNode(max_wait_ms=0)
    node.append(1)
    assert sizes(node.ask_for()) == [(1, 2, BATCH)]
    first = node.session_id
    node.epoch = 0
    reply = node.ask_for((1, 2))
    assert reply is not None
    assert reply.session_id not in (0, first)
    node.session_id = reply.session_id
    node.append(1)
    reply = node.ask_for()
    assert reply is not None
    assert (reply.session_id, sizes(reply)) == (node.session_id, [(1, 3, BATCH)])
    assert node.general == 2


@pytest.mark.parametrize("version", [12, 14, 15, 18])
def test_a_follower_moves_the_high_watermark(version: int) -> None:
    node = Node()
    of_two = partition_record(topic_id_of(7), 3, replicas=[1, 2], isr=[1, 2], leader=1)
    node.broker.node.apply(of_two)
    partition = node.broker.replica_manager.find("t", 3)
    assert partition is not None
    who: dict[str, Any] = {"replica_id": 2}
    if version >= 15:
        who = {"replica_state": ReplicaState(replica_id=2, replica_epoch=-1)}
    first = node.ask(fetch(version, (3, 0), session_epoch=0, **who), version)
    assert first is None
    node.broker.node.now_ms += 500
    node.broker.purgatory.advance(node.broker.node.now_ms)
    first = node.ask(b"", version)
    assert first is not None
    of_session: dict[str, Any] = {"session_id": first.session_id, **who}
    waits = fetch(version, session_epoch=1, **of_session | {"topics": []})
    assert node.ask(waits, version) is None
    node.broker.node.append(partition, b"v" * 100)
    assert partition.high_watermark == 0
    assert sizes(node.ask(b"", version)) == [(3, 0, BATCH)]
    node.ask(fetch(version, (3, 1), session_epoch=2, **of_session), version)
    assert partition.high_watermark == 1
    assert node.general == 1
