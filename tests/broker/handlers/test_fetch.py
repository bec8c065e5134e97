"""Fetch: what each request gets, in which version, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.broker.handlers.fetch import HANDLER
from pykbroker.broker.requests import fetching
from pykbroker.errors import ErrorCode
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from pykbroker.protocol.messages.fetch_response import PartitionData
from pykbroker.protocol.record_batch import iter_records
from pykbroker.replication import fetch_reader
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import NOW_MS, batch, topic_id_of

VERSIONS = range(4, 19)


def request(
    offset: int = 0,
    *partitions: int,
    topic: str = "t",
    topic_id: bytes = topic_id_of(7),
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    partition: dict[str, Any] | None = None,
    **fields: Any,
) -> FetchRequest:
    """Partitions (0 if none is given) of one topic from the same offset on."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        topics=[
            FetchTopic(
                topic=topic,
                topic_id=topic_id,
                partitions=[
                    FetchPartition(
                        partition=p,
                        fetch_offset=offset,
                        **{"partition_max_bytes": 1 << 20} | (partition or {}),
                    )
                    for p in partitions or (0,)
                ],
            )
        ],
        **fields,
    )


def fetch(broker: Broker, message: FetchRequest, version: int = 18) -> Call:
    return Call(broker, HANDLER, message, version)


def entries(call: Call) -> list[PartitionData]:
    assert call.answer.error_code == 0
    return [p for t in call.answer.responses for p in t.partitions]


def only(call: Call) -> PartitionData:
    (entry,) = entries(call)
    return entry


def values(entry: PartitionData) -> list[Any]:
    records = memoryview(entry.records)  # type: ignore[arg-type]
    found = []
    while records:
        size = int.from_bytes(records[8:12], "big") + 12
        found += [bytes(r.value) for r in iter_records(records[:size])]  # type: ignore[arg-type]
        records = records[size:]
    return found


@pytest.fixture
def broker() -> Broker:
    """Topic t with two partitions; partition 0 holds a, b, c in two batches."""
    broker = Broker()
    partition = broker.node.create_topic(partitions=2)
    broker.node.append(partition, b"a", b"b")
    broker.node.append(partition, b"c")
    return broker


def append(broker: Broker, *wanted: bytes, partition: int = 0) -> None:
    broker.node.append(broker.node.manager.partition(TopicPartition("t", partition)), *wanted)


@pytest.mark.parametrize("version", VERSIONS)
def test_records_at_once(broker: Broker, version: int) -> None:
    call = fetch(broker, request(0, max_wait_ms=1000), version)
    entry = only(call)
    assert (entry.error_code, entry.high_watermark, entry.last_stable_offset) == (0, 3, 3)
    assert entry.log_start_offset == (0 if version >= 5 else -1)
    assert (entry.preferred_read_replica, entry.aborted_transactions) == (-1, None)
    assert values(entry) == [b"a", b"b", b"c"]
    (topic,) = call.answer.responses
    assert (topic.topic, topic.topic_id) == (
        ("", topic_id_of(7)) if version >= 13 else ("t", bytes(16))
    )
    assert (broker.counters.total_fetch_requests, broker.counters.bytes_out > 0) == (1, True)


def test_an_offset_inside_a_batch_gets_the_whole_batch(broker: Broker) -> None:
    assert values(only(fetch(broker, request(1)))) == [b"a", b"b", b"c"]
    assert values(only(fetch(broker, request(2)))) == [b"c"]


def test_a_long_poll_waits_for_records(broker: Broker) -> None:
    call = fetch(broker, request(3, max_wait_ms=500))
    assert call.is_waiting
    append(broker, b"d")
    assert values(only(call)) == [b"d"]
    broker.purgatory.advance(NOW_MS + 1000)  # answered once only


def test_a_long_poll_ends_after_its_time(broker: Broker) -> None:
    call = fetch(broker, request(3, max_wait_ms=500))
    broker.purgatory.advance(NOW_MS + 499)
    assert call.is_waiting
    broker.purgatory.advance(NOW_MS + 500)
    entry = only(call)
    assert (entry.error_code, entry.high_watermark, entry.records) == (0, 3, b"")


def test_a_long_poll_ends_with_its_connection(broker: Broker) -> None:
    call = fetch(broker, request(3, max_wait_ms=2**31 - 1))
    assert len(broker.purgatory) == 1
    call.request.connection.on_close()  # as the connection does
    assert len(broker.purgatory) == 0
    append(broker, b"d")
    assert call.is_waiting  # nobody is answered
    answered = fetch(broker, request(4, max_wait_ms=500))
    assert answered.request.connection.on_close is not None
    append(broker, b"e")
    assert values(only(answered)) == [b"e"]
    assert answered.request.connection.on_close is None


def test_a_long_poll_watches_all_its_partitions(broker: Broker) -> None:
    call = fetch(broker, request(3, 0, max_wait_ms=500))
    both = request(3, 0, max_wait_ms=500)
    both.topics[0].partitions.append(FetchPartition(partition=1, partition_max_bytes=1 << 20))
    two = fetch(broker, both)
    append(broker, b"x", partition=1)
    assert call.is_waiting
    assert [values(e) for e in entries(two)] == [[], [b"x"]]


def test_min_bytes_gathers_several_appends(broker: Broker) -> None:
    size = len(batch(b"d"))
    call = fetch(broker, request(3, max_wait_ms=500, min_bytes=2 * size))
    append(broker, b"d")
    assert call.is_waiting
    append(broker, b"e")
    assert values(only(call)) == [b"d", b"e"]


def test_what_is_left_of_an_older_segment_does_not_wait_for_min_bytes(broker: Broker) -> None:
    """As in Kafka: a read stops there, so that waiting would not bring more."""
    log = broker.node.manager.partition(TopicPartition("t", 0)).log
    append(broker, b"d")
    log.roll(NOW_MS)
    append(broker, b"e")
    size = len(batch(b"d"))
    call = fetch(broker, request(3, max_wait_ms=500, min_bytes=9 * size))
    assert values(only(call)) == [b"d"]
    assert fetch(broker, request(4, max_wait_ms=500, min_bytes=9 * size)).is_waiting


def test_no_wait_when_none_is_asked_for(broker: Broker) -> None:
    assert only(fetch(broker, request(3, max_wait_ms=0))).records == b""
    assert only(fetch(broker, request(3, max_wait_ms=500, min_bytes=0))).records == b""


@pytest.mark.parametrize("isolation, aborted", [(0, None), (1, [])])
def test_isolation(broker: Broker, isolation: int, aborted: list[Any] | None) -> None:
    assert only(fetch(broker, request(isolation_level=isolation))).aborted_transactions == aborted


@pytest.mark.parametrize("version", [4, 7, 12, 13])
def test_an_isolation_level_that_is_none(broker: Broker, version: int) -> None:
    answer = fetch(broker, request(isolation_level=2), version).answer
    assert answer.error_code == (ErrorCode.UNKNOWN_SERVER_ERROR if version >= 7 else 0)
    told = [(p.error_code, p.aborted_transactions) for t in answer.responses for p in t.partitions]
    assert told == ([(ErrorCode.UNKNOWN_SERVER_ERROR, [])] if version < 13 else [])


@pytest.mark.parametrize("max_bytes, aborted", [(0, []), (10, None)])
def test_what_the_limits_leave_empty_names_no_transactions(
    broker: Broker, max_bytes: int, aborted: list[Any] | None
) -> None:
    broker.node.create_topic("u", number=9)
    for topic in ("t", "u"):
        broker.node.append(broker.node.manager.partition(TopicPartition(topic, 0)), b"v")
    asked = request(isolation_level=1, partition={"partition_max_bytes": max_bytes})
    asked.topics += request(
        topic="u", topic_id=topic_id_of(9), partition={"partition_max_bytes": max_bytes}
    ).topics
    first, second = entries(fetch(broker, asked))
    assert (len(values(first)) > 0, first.aborted_transactions) == (True, [])
    assert (second.records, second.aborted_transactions) == (b"", aborted)


def test_out_of_range(broker: Broker) -> None:
    entry = only(fetch(broker, request(9, max_wait_ms=1000)))
    assert entry.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert (entry.high_watermark, entry.last_stable_offset, entry.log_start_offset) == (-1, -1, -1)
    assert entry.records == b""


@pytest.mark.parametrize("version, code", [(12, 3), (13, ErrorCode.UNKNOWN_TOPIC_ID)])
def test_no_such_topic(broker: Broker, version: int, code: int) -> None:
    message = request(topic="missing", topic_id=topic_id_of(99), max_wait_ms=1000)
    assert only(fetch(broker, message, version)).error_code == code


def test_an_unknown_partition_does_not_end_the_wait_of_the_others(broker: Broker) -> None:
    call = fetch(broker, request(3, 5, 0, max_wait_ms=500))
    assert call.is_waiting
    append(broker, b"d")
    # Those that are unknown come last.
    assert [(e.partition_index, e.error_code) for e in entries(call)] == [(0, 0), (5, 3)]


@pytest.mark.parametrize("epoch, code", [(0, 0), (1, ErrorCode.UNKNOWN_LEADER_EPOCH)])
def test_leader_epochs_are_checked(broker: Broker, epoch: int, code: int) -> None:
    message = request(partition={"current_leader_epoch": epoch})
    assert only(fetch(broker, message)).error_code == code


@pytest.mark.parametrize("version", [15, 16])
def test_the_leader_is_named_to_who_asks_elsewhere(broker: Broker, version: int) -> None:
    broker.node.create_topic("far", number=9, replicas=(2,), leader=2)
    broker.register(2, "host2", 9094)
    call = fetch(broker, request(topic_id=topic_id_of(9), max_wait_ms=1000), version)
    entry = only(call)
    assert entry.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    endpoints = [(e.node_id, e.host, e.port) for e in call.answer.node_endpoints]
    if version < 16:
        assert (entry.current_leader, endpoints) == (None, [])
    else:
        assert entry.current_leader is not None
        assert (entry.current_leader.leader_id, endpoints) == (2, [(2, "host2", 9094)])


@pytest.mark.parametrize("version", [14, 15])
def test_a_follower_that_is_no_replica(broker: Broker, version: int) -> None:
    message = request(partition={"current_leader_epoch": 0}, max_wait_ms=1000)
    if version >= 15:
        message.replica_state = ReplicaState(replica_id=5, replica_epoch=1)
    else:
        message.replica_id = 5
    assert only(fetch(broker, message, version)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_replica_fetches_and_moves_the_high_watermark() -> None:
    broker = Broker()
    partition = broker.node.create_topic(replicas=(1, 2))
    broker.node.append(partition, b"a")
    consumer = fetch(broker, request(0, max_wait_ms=500))
    follower: dict[str, Any] = {"replica_state": ReplicaState(replica_id=2, replica_epoch=1)}
    assert values(only(fetch(broker, request(0, **follower)))) == [b"a"]
    assert consumer.is_waiting
    assert only(fetch(broker, request(1, **follower))).high_watermark == 0  # as it was before
    assert partition.high_watermark == 1
    assert values(only(consumer)) == [b"a"]


@pytest.mark.parametrize("version, code", [(5, 6), (6, ErrorCode.KAFKA_STORAGE_ERROR)])
def test_an_offline_directory(broker: Broker, version: int, code: int) -> None:
    waiting = fetch(broker, request(3, max_wait_ms=500), version)
    broker.node.fail_writes()
    partition = broker.node.manager.partition(TopicPartition("t", 0))
    broker.node.manager.append(partition, batch(), 1, NOW_MS)
    broker.node.end_turn()
    assert only(waiting).error_code == code
    assert only(fetch(broker, request(3), version)).error_code == code


def test_a_diverging_epoch(broker: Broker) -> None:
    partition = broker.node.manager.partition(TopicPartition("t", 0))
    partition.log.assign_epoch_start(5, 3)
    message = request(3, partition={"last_fetched_epoch": 3}, max_wait_ms=1000)
    entry = only(fetch(broker, message))
    assert entry.diverging_epoch is not None
    assert (entry.diverging_epoch.epoch, entry.diverging_epoch.end_offset) == (0, 3)
    assert (entry.error_code, entry.records) == (0, b"")


def test_fetch_max_bytes_of_the_broker_limits_all_partitions() -> None:
    broker = Broker({"fetch.max.bytes": "1024"})
    broker.node.create_topic(partitions=2)
    for p in (0, 1):
        append(broker, bytes(900), partition=p)
    sizes = [len(e.records) for e in entries(fetch(broker, request(0, 0, 1)))]  # type: ignore[arg-type]
    assert sizes[0] > 900
    assert sizes[1] <= 1024 - sizes[0]


# ---- sessions


def test_a_session_from_request_to_request(broker: Broker) -> None:
    session: dict[str, Any] = {"session_id": 0, "session_epoch": 0}
    message = request(3, **session)
    message.topics[0].partitions.append(FetchPartition(partition=1, partition_max_bytes=1 << 20))
    first = fetch(broker, message).answer
    assert (first.error_code, len(first.responses[0].partitions)) == (0, 2)
    session = {"session_id": first.session_id, "session_epoch": 1}
    assert first.session_id > 0
    message = request(3, max_wait_ms=500, **session)
    message.topics = []
    poll = fetch(broker, message)
    assert poll.is_waiting
    append(broker, b"d")
    (entry,) = entries(poll)
    assert (entry.partition_index, values(entry)) == (0, [b"d"])


def test_a_session_after_its_topic_is_deleted_and_made_again(broker: Broker) -> None:
    first = fetch(broker, request(3, session_id=0, session_epoch=0)).answer

    def again(epoch: int) -> Call:
        message = request(session_id=first.session_id, session_epoch=epoch, max_wait_ms=500)
        message.topics = []
        return fetch(broker, message)

    waiting = again(1)
    broker.node.delete_topic(7)
    assert only(waiting).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert only(again(2)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.node.create_topic(number=8)
    assert only(again(3)).error_code == ErrorCode.INCONSISTENT_TOPIC_ID


def test_a_session_error_is_at_the_top(broker: Broker) -> None:
    answer = fetch(broker, request(session_id=77, session_epoch=4)).answer
    assert (answer.error_code, answer.session_id, answer.responses) == (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        0,
        [],
    )


@pytest.mark.parametrize("version, partitions", [(12, 1), (13, 0)])
def test_error_reply(broker: Broker, version: int, partitions: int) -> None:
    call = fetch(broker, request(session_id=0, session_epoch=-1), version)
    reply: Any = HANDLER.error_reply(call.request, 42, None)
    assert reply.error_code == 42
    assert sum(len(t.partitions) for t in reply.responses) == partitions


def make_cold(broker: Broker) -> None:
    """Forget where offsets were found; the files are on disk only."""
    log = broker.node.manager.partition(TopicPartition("t", 0)).log
    log.active.hints.clear()
    broker.node.files.cold.add(log.active.file.path)


def test_a_cold_read_waits_for_a_thread_and_not_on_the_loop(broker: Broker) -> None:
    make_cold(broker)
    call = fetch(broker, request(2))
    assert call.is_waiting
    assert broker.threads.finish() == 1
    assert values(only(call)) == [b"c"]
    assert broker.wakes == 1
    assert broker.node.files.may_wait


def test_the_session_of_a_cold_read_goes_on_as_ever(broker: Broker) -> None:
    made = fetch(broker, request(3, session_epoch=0)).answer
    append(broker, b"d")
    make_cold(broker)
    following = FetchRequest(session_id=made.session_id, session_epoch=1, min_bytes=1)
    call = fetch(broker, following)
    assert broker.threads.finish() == 1
    assert values(only(call)) == [b"d"]


def test_a_cold_read_that_finds_nothing_waits_for_records(broker: Broker) -> None:
    make_cold(broker)
    call = fetch(broker, request(2, max_wait_ms=1000, min_bytes=500))
    assert broker.threads.finish() == 1
    assert call.is_waiting
    append(broker, b"x" * 500)
    assert values(only(call)) == [b"c", b"x" * 500]


def test_nobody_is_answered_when_the_connection_closed_meanwhile(broker: Broker) -> None:
    make_cold(broker)
    call = fetch(broker, request(2, max_wait_ms=1000, min_bytes=500))
    call.request.connection.closed = True
    broker.threads.finish()
    assert call.is_waiting
    assert broker.node.purgatory.next_deadline_ms() is None


def test_a_disk_that_fails_to_fetch_is_asked_once_more_and_waited_for(broker: Broker) -> None:
    make_cold(broker)

    def broken(name: str, path: str) -> OSError | None:
        return OSError(5, "broken") if name == "pread" else None

    call = fetch(broker, request(2))
    ((_, fetching),) = broker.threads.waiting
    broker.threads.waiting = []
    broker.node.files.fail = broken
    fetching.resolve(OSError(5, "broken"))
    assert only(call).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_bug_in_a_look_up_closes_the_connection(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_cold(broker)
    call = fetch(broker, request(2))
    monkeypatch.setattr(fetch_reader, "read_partition", None)
    monkeypatch.setattr(Broker, "wake", lambda self: None)
    broker.threads.finish()
    assert isinstance(call.answer, CloseConnection)


class Breathing(Broker):
    """A broker in which something happens at one of the breaths of a request."""

    def __init__(self, at_breath: int, event: Callable[[Broker], None]) -> None:
        super().__init__()
        self._at_breath = at_breath
        self._event = event
        self.node.create_topic(partitions=6)

    def breathe(self) -> None:
        super().breathe()
        if self.breaths == self._at_breath:
            self._event(self)


@pytest.mark.parametrize("at_breath", range(1, 13))
def test_a_record_that_comes_while_many_partitions_are_read_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, at_breath: int
) -> None:
    monkeypatch.setattr(fetching, "MANY", 5)
    broker = Breathing(at_breath, append_late)
    call = fetch(broker, request(0, *range(6), max_wait_ms=1000))
    assert not call.is_waiting
    assert [values(entry) for entry in entries(call)] == [[b"late"], *[[]] * 5]
    assert not list(broker.purgatory.waiting())


def test_a_fetch_of_many_partitions_whose_wait_ends_in_the_middle_is_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetching, "MANY", 5)

    def expire(broker: Broker) -> None:
        append_late(broker)
        broker.purgatory.advance(NOW_MS + 1000)

    broker = Breathing(9, expire)  # in the second look
    call = fetch(broker, request(0, *range(6), max_wait_ms=1000))
    assert values(entries(call)[0]) == [b"late"]


def test_a_fetch_of_many_partitions_without_news_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MANY", 5)
    broker = Breathing(0, append_late)
    call = fetch(broker, request(0, *range(6), max_wait_ms=1000))
    assert call.is_waiting
    append_late(broker)
    assert values(entries(call)[0]) == [b"late"]


def append_late(broker: Broker) -> None:
    append(broker, b"late")
