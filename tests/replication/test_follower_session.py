"""A follower's session: what makes a partition dirty, what ends the wait, what may rest."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from pykbroker.replication.fetch_reader import read_all_partitions
from pykbroker.replication.fetch_request import FetchParams
from pykbroker.replication.fetch_request import FetchPartition as Asked
from pykbroker.replication.partition import Partition
from pykbroker.replication.record_deletion import delete_records
from tests.broker.handlers.data_plane import Broker, Call
from tests.broker.handlers.test_fetch import entries, fetch, only, values
from tests.replication.node import batch, topic_id_of
from tests.replication.test_hosting import changed

PARTITIONS = 12
WAIT_MS = 500
BROKER = ReplicaState(replica_id=2, replica_epoch=10)


class Follower:
    """Node 2, which follows all partitions of `t`, and has everything at first."""

    def __init__(self, partitions: int = PARTITIONS) -> None:
        self.broker = Broker()
        self.broker.node.register(2)
        self.broker.node.create_topic(replicas=(1, 2), partitions=partitions)
        self.epoch = 0
        self.session_id = 0
        self.session_id = self.fetch(*range(partitions), wait_ms=0).answer.session_id
        assert self.fetch(wait_ms=0).answer.responses == []

    def partition(self, number: int) -> Partition:
        found = self.broker.node.manager.find("t", number)
        assert found is not None
        return found

    def fetch(self, *numbers: int, wait_ms: int = WAIT_MS, **fields: Any) -> Call:
        """The next fetch of the session: it has all of the partitions `numbers` by now."""
        asked = [
            FetchPartition(
                partition=number,
                fetch_offset=self.partition(number).log.log_end_offset,
                current_leader_epoch=0,
                last_fetched_epoch=0,
                log_start_offset=0,
                partition_max_bytes=1 << 20,
            )
            for number in numbers
        ]
        defaults: dict[str, Any] = {"min_bytes": 1, "replica_state": BROKER}
        message = FetchRequest(
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=[FetchTopic(topic_id=topic_id_of(7), partitions=asked)] if asked else [],
            max_wait_ms=wait_ms,
            **(defaults | fields),
        )
        self.epoch += 1
        return fetch(self.broker, message)

    def expire(self) -> None:
        self.broker.node.now_ms += WAIT_MS
        self.broker.purgatory.advance(self.broker.node.now_ms)


@pytest.fixture
def follower() -> Follower:
    return Follower()


def numbers(call: Call) -> list[int]:
    return [entry.partition_index for entry in entries(call)]


def codes(call: Call) -> dict[int, int]:
    return {entry.partition_index: entry.error_code for entry in entries(call)}


def test_a_fetch_waits_under_one_key_and_is_answered_with_nothing(follower: Follower) -> None:
    before = follower.broker.purgatory.watched_keys
    call = follower.fetch()
    assert call.is_waiting
    assert follower.broker.purgatory.watched_keys == before + 1
    follower.expire()
    assert numbers(call) == []


def test_only_what_was_appended_to_is_answered(follower: Follower) -> None:
    call = follower.fetch()
    follower.broker.node.append(follower.partition(7), b"a", acks=1)
    assert values(only(call)) == [b"a"]
    assert numbers(call) == [7]


def test_what_the_follower_has_not_fetched_is_sent_again(follower: Follower) -> None:
    call = follower.fetch()
    follower.broker.node.append(follower.partition(7), b"a", acks=1)
    assert numbers(call) == [7]
    assert values(only(follower.fetch())) == [b"a"]


def test_a_high_watermark_is_told_with_the_next_answer_and_ends_no_wait(
    follower: Follower,
) -> None:
    call = follower.fetch()
    follower.broker.node.append(follower.partition(7), b"a", acks=1)
    assert numbers(call) == [7]
    call = follower.fetch(7)
    assert follower.partition(7).high_watermark == 1
    assert call.is_waiting
    follower.expire()
    assert (only(call).partition_index, only(call).high_watermark) == (7, 1)
    call = follower.fetch()
    follower.expire()
    assert numbers(call) == []


def test_a_log_start_is_told_with_the_next_answer(follower: Follower) -> None:
    partition = follower.partition(3)
    follower.broker.node.append(partition, b"a", acks=1)
    follower.fetch(3)
    follower.expire()
    call = follower.fetch()
    delete_records(partition, 1)
    assert call.is_waiting
    follower.expire()
    assert (only(call).partition_index, only(call).log_start_offset) == (3, 1)


@pytest.mark.parametrize(
    "change, code",
    [
        ({"leader": 2}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"replicas": [2], "isr": [2], "leader": 2}, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_another_leader_ends_the_wait(
    follower: Follower, change: dict[str, Any], code: ErrorCode
) -> None:
    call = follower.fetch()
    follower.broker.node.apply(changed(**change))
    assert (only(call).partition_index, only(call).error_code) == (0, code)
    assert only(follower.fetch()).error_code == code  # as long as it is asked for


def test_a_topic_that_is_made_again_ends_the_wait(follower: Follower) -> None:
    call = follower.fetch()
    follower.broker.node.delete_topic()
    gone = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes(call)[0] == gone  # the others are deleted after it
    assert codes(follower.fetch()) == dict.fromkeys(range(PARTITIONS), gone)
    follower.broker.node.create_topic(replicas=(1, 2), partitions=PARTITIONS, number=8)
    another = dict.fromkeys(range(PARTITIONS), ErrorCode.INCONSISTENT_TOPIC_ID)
    assert codes(follower.fetch()) == another
    assert codes(follower.fetch()) == another


def test_a_failed_directory_ends_the_wait(follower: Follower) -> None:
    call = follower.fetch()
    node = follower.broker.node
    node.fail_writes()
    node.manager.append(follower.partition(2), batch(b"a"), 1, node.now_ms)
    node.end_turn()
    assert codes(call)[0] == ErrorCode.KAFKA_STORAGE_ERROR  # the others are lost after it
    lost = dict.fromkeys(range(PARTITIONS), ErrorCode.KAFKA_STORAGE_ERROR)
    assert codes(follower.fetch()) == lost


def test_bytes_of_several_partitions_end_a_wait_for_more(follower: Follower) -> None:
    call = follower.fetch(min_bytes=150)
    follower.broker.node.append(follower.partition(1), b"a", acks=1)
    assert call.is_waiting
    follower.broker.node.append(follower.partition(2), b"b", acks=1)
    assert call.is_waiting
    follower.broker.node.append(follower.partition(1), b"c", acks=1)
    assert sorted(numbers(call)) == [1, 2]


def test_a_follower_that_fell_behind_is_answered_at_once(follower: Follower) -> None:
    follower.broker.node.append(follower.partition(5), b"a", acks=1)
    assert values(only(follower.fetch())) == [b"a"]


def test_an_idle_follower_counts_as_caught_up_at_its_last_fetch(follower: Follower) -> None:
    """Not when the append comes that it misses, nor when it last asked for the partition."""
    node, partition = follower.broker.node, follower.partition(4)
    node.now_ms += 100_000
    follower.fetch(wait_ms=0)
    last_fetch_ms = node.now_ms
    node.now_ms += 10_000
    node.append(partition, b"a", acks=1)
    progress = partition.followers[2]
    assert progress.caught_up_ms == last_fetch_ms
    assert progress.is_caught_up(1, last_fetch_ms + 30_000, 30_000)
    assert not progress.is_caught_up(1, last_fetch_ms + 30_001, 30_000)
    node.now_ms += 10_000
    follower.fetch(wait_ms=0)  # fetches of the session say nothing of it any more
    assert progress.caught_up_ms == last_fetch_ms


def test_a_partition_that_is_forgotten_is_not_kept_caught_up(follower: Follower) -> None:
    node = follower.broker.node
    progress = follower.partition(4).followers[2]
    caught_up_ms = node.now_ms
    node.now_ms += 1000
    forgotten = [ForgottenTopic(topic_id=topic_id_of(7), partitions=[4])]
    follower.fetch(wait_ms=0, forgotten_topics_data=forgotten)
    node.append(follower.partition(4), b"a", acks=1)
    assert entries(follower.fetch(wait_ms=0)) == []
    assert progress.caught_up_ms == caught_up_ms


def test_a_follower_out_of_sync_is_looked_at_by_every_fetch(follower: Follower) -> None:
    """Its broker may become eligible at any time; only its fetch lets it in."""
    node, partition = follower.broker.node, follower.partition(0)
    node.register(2, fenced=True)
    node.apply(changed(isr=[1]))
    follower.fetch(wait_ms=0)
    follower.fetch(wait_ms=0)
    assert not partition.isr.change_in_flight
    proposed: list[Any] = []

    class Controller:
        def submit(self, asked: Partition, proposal: object) -> None:
            proposed.append((asked.index, sorted(asked.isr.proposed)))

        def follow(self, asked: Partition) -> None:
            pass

        def leave(self, asked: Partition) -> None:
            pass

    node.manager.connect(Controller(), Controller())
    node.register(2)
    follower.fetch(wait_ms=0)
    assert proposed == [(0, [1, 2])]


def test_a_later_session_of_the_follower_takes_a_partition_over(follower: Follower) -> None:
    old_id, old_epoch = follower.session_id, follower.epoch
    follower.epoch = follower.session_id = 0
    follower.session_id = follower.fetch(*range(PARTITIONS), wait_ms=0).answer.session_id
    follower.fetch(wait_ms=0)
    call = follower.fetch()
    follower.broker.node.append(follower.partition(6), b"a", acks=1)
    assert numbers(call) == [6]
    follower.session_id, follower.epoch = old_id, old_epoch
    assert numbers(follower.fetch()) == [6]


def test_a_fetch_without_a_session_counts_as_well(follower: Follower) -> None:
    node, partition = follower.broker.node, follower.partition(0)
    call = follower.fetch()
    node.append(partition, b"a", acks=1)
    assert numbers(call) == [0]
    node.follower_fetch(partition, 1)
    assert (partition.followers[2].log_end_offset, partition.high_watermark) == (1, 1)


def test_a_broker_of_an_earlier_life_is_refused_everything(follower: Follower) -> None:
    follower.broker.node.register(2, epoch=11)
    refused = dict.fromkeys(range(PARTITIONS), ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert codes(follower.fetch()) == refused


def test_a_follower_whose_replica_is_moved_while_it_is_read_makes_no_progress(
    follower: Follower,
) -> None:
    node, partition = follower.broker.node, follower.partition(0)
    session = node.manager.follower_session()
    asked = Asked("t", topic_id_of(7), 0, 0, 1 << 20, current_leader_epoch=0)
    session.ask(asked)
    params = FetchParams(replica_id=2, replica_epoch=10)
    result = read_all_partitions(node.manager, params, [asked])
    node.apply(changed(replicas=[1], isr=[1]))
    node.manager.note_follower_fetch(params, result, node.now_ms, session)
    assert partition.followers == {}
    assert list(session.dirty) == [asked]


def test_a_consumer_may_use_the_session_and_makes_no_progress(follower: Follower) -> None:
    node = follower.broker.node
    node.now_ms += 1000
    follower.fetch(wait_ms=0)
    caught_up_ms = node.now_ms
    node.now_ms += 1000
    call = follower.fetch(wait_ms=0, replica_state=None)
    assert entries(call) == []
    assert {follower.partition(n).followers[2].caught_up_ms for n in range(PARTITIONS)} == {
        caught_up_ms
    }
    node.append(follower.partition(1), b"a", acks=1)
    assert numbers(follower.fetch(wait_ms=0)) == [1]
