"""The replica manager: a turn's appends, what waits for them, metadata, failing disks."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.replication.delayed_fetch import DelayedFetch
from pykbroker.replication.delayed_produce import DelayedProduce
from pykbroker.replication.fetch_request import FetchParams, FetchPartition, FetchResult
from pykbroker.replication.partition import Partition
from pykbroker.replication.replica_manager import ReplicaManager
from pykbroker.types import TopicPartition
from tests.replication.node import Node, batch, topic_id_of

TP = TopicPartition("t", 0)
STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)


class Produce(DelayedProduce):
    """A produce of one batch; its reply is [error code]."""

    def __init__(self, node: Node, partition: Partition, acks: int, timeout_ms: int = 1000) -> None:
        super().__init__(acks == -1, node.now_ms + timeout_ms, Deferred())
        self.reply = [0]
        outcome = node.manager.append(partition, batch(), acks, node.now_ms)
        assert outcome.error == 0
        self.add(partition, outcome.last_offset + 1, self.reply)
        node.manager.await_turn(self)

    def fail_part(self, reply: Any, code: int) -> None:
        reply[0] = code


class Fetch(DelayedFetch):
    def __init__(self, node: Node, partition: Partition, min_bytes: int = 1) -> None:
        asked = FetchPartition("t", ZERO_UUID, 0, partition.log.log_end_offset, 1 << 20)
        asked.partition = partition
        super().__init__(node.manager, FetchParams(min_bytes=min_bytes), FetchResult([asked]))
        self.answers = 0
        self.wait_until(node.now_ms + 1000)

    def answer(self) -> None:
        self.answers += 1


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, TopicPartition, int]] = []

    def on_high_watermark(self, topic_partition: TopicPartition, high_watermark: int) -> None:
        self.heard.append(("high watermark", topic_partition, high_watermark))

    def on_failed(self, topic_partition: TopicPartition, code: int) -> None:
        self.heard.append(("failed", topic_partition, code))


@pytest.fixture
def node() -> Node:
    return Node()


def test_nothing_is_answered_before_the_turns_end(node: Node) -> None:
    partition = node.create_topic()
    produces = [Produce(node, partition, acks) for acks in (1, -1, 0)]
    fetch = Fetch(node, partition)
    assert [p.deferred.done for p in produces] == [False] * 3
    assert partition.log.log_end_offset == 0
    node.end_turn()
    assert [p.deferred.value for p in produces] == [[0]] * 3
    assert (partition.log.log_end_offset, partition.high_watermark) == (3, 3)
    assert fetch.answers == 1


def test_a_turn_writes_each_partition_once(node: Node) -> None:
    node.create_topic(partitions=2)
    both = [node.manager.partition(TopicPartition("t", p)) for p in (0, 1)]
    written: list[str] = []

    def note(call: str, path: str) -> None:
        if call == "write" and path.endswith(".log"):
            written.append(path)

    node.files.fail = note
    for _ in range(3):
        for partition in both:
            Produce(node, partition, 1)
    node.end_turn()
    assert len(written) == 2
    node.end_turn()
    assert len(written) == 2


def test_the_end_of_a_turn_says_whether_it_needs_another(node: Node) -> None:
    partition = node.create_topic()
    end_turn = node.manager.end_turn
    assert not end_turn(node.now_ms)
    produce = Produce(node, partition, 1)
    more: list[Produce] = []
    produce.deferred.on_resolved(lambda _: more.append(Produce(node, partition, 1)))
    assert end_turn(node.now_ms)
    assert not more[0].deferred.done
    assert not end_turn(node.now_ms)
    assert more[0].deferred.value == [0]


def test_acks_all_waits_for_the_followers(node: Node) -> None:
    partition = node.create_topic(replicas=(1, 2))
    one, everyone = Produce(node, partition, 1), Produce(node, partition, -1)
    node.end_turn()
    assert (one.deferred.done, everyone.deferred.done) == (True, False)
    node.follower_fetch(partition, 2)
    assert everyone.deferred.value == [0]


def test_acks_all_times_out(node: Node) -> None:
    partition = node.create_topic(replicas=(1, 2))
    produce = Produce(node, partition, -1, timeout_ms=500)
    node.end_turn()
    node.purgatory.advance(node.now_ms + 499)
    assert not produce.deferred.done
    node.purgatory.advance(node.now_ms + 500)
    assert produce.deferred.value == [ErrorCode.REQUEST_TIMED_OUT]


def test_acks_all_ends_when_leadership_is_lost(node: Node) -> None:
    partition = node.create_topic(replicas=(1, 2))
    produce = Produce(node, partition, -1)
    node.end_turn()
    node.delete_topic()
    assert produce.deferred.value == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert not partition.hosted


def test_a_failed_write_fails_exactly_the_turns_appends(node: Node) -> None:
    partition = node.create_topic()
    listener = Listener()
    node.manager.watch(TP, listener)
    before = Produce(node, partition, -1)
    node.end_turn()
    produces = [Produce(node, partition, acks) for acks in (1, -1)]
    fetch = Fetch(node, partition)
    node.fail_writes()
    node.end_turn()
    assert before.deferred.value == [0]
    assert [p.deferred.value for p in produces] == [[STORAGE_ERROR]] * 2
    assert fetch.answers == 1  # to say that the partition is offline
    assert listener.heard == [("high watermark", TP, 1), ("failed", TP, STORAGE_ERROR)]
    assert node.manager.lookup("t", 0) == STORAGE_ERROR
    with pytest.raises(KafkaError) as error:
        node.manager.partition(TP)
    assert error.value.code == STORAGE_ERROR


def test_a_failed_directory_takes_its_other_partitions_with_it(node: Node) -> None:
    node.create_topic(partitions=2)
    first, second = (node.manager.partition(TopicPartition("t", p)) for p in (0, 1))
    produces = [Produce(node, first, 1), Produce(node, second, 1)]
    node.fail_writes()
    node.end_turn()
    assert [p.deferred.value for p in produces] == [[STORAGE_ERROR]] * 2
    assert not second.hosted


def test_a_write_that_fails_when_the_segment_rolls(node: Node) -> None:
    partition = node.create_topic(segment_bytes="1048576")
    produce = Produce(node, partition, 1)
    node.fail_writes()
    big = batch(bytes(1_048_480))
    with pytest.raises(KafkaError) as error:
        node.manager.append(partition, big, 1, node.now_ms)
    assert error.value.code == STORAGE_ERROR
    node.end_turn()
    assert produce.deferred.value == [STORAGE_ERROR]


# ---- following the metadata


def test_a_partition_elsewhere_is_not_hosted(node: Node) -> None:
    node.create_topic(replicas=(2,), leader=2)
    assert node.manager.find("t", 0) is None
    assert node.manager.lookup("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert node.manager.lookup("t", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_deleted_and_made_again_is_a_new_log(node: Node) -> None:
    old = node.create_topic(number=7)
    node.append(old, b"old")
    listener = Listener()
    node.manager.watch(TP, listener)
    node.delete_topic(7)
    assert listener.heard == [("failed", TP, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    new = node.create_topic(number=8)
    assert (new.log.log_end_offset, new.high_watermark) == (0, 0)
    assert (old.hosted, new.hosted) == (False, True)


def test_fetch_entries_find_their_partition(node: Node) -> None:
    first = node.create_topic(number=7)
    by_id = FetchPartition(None, topic_id_of(7), 0, 0, 100)
    assert node.manager.resolve(by_id) is first
    assert (by_id.topic, by_id.partition) == ("t", first)
    node.delete_topic(7)
    assert node.manager.resolve(by_id) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node.create_topic(number=8)
    assert node.manager.resolve(by_id) == ErrorCode.INCONSISTENT_TOPIC_ID
    unknown = FetchPartition(None, topic_id_of(99), 0, 0, 100)
    assert node.manager.resolve(unknown) == ErrorCode.UNKNOWN_TOPIC_ID
    assert unknown.topic is None


def test_a_changed_topic_config_reaches_the_log(node: Node) -> None:
    from pykbroker.kraft.image import TOPIC_RESOURCE
    from pykbroker.protocol.messages.config_record import ConfigRecord

    partition = node.create_topic(replicas=(1, 2), isr=(1,))
    node.apply(
        ConfigRecord(
            resource_type=TOPIC_RESOURCE,
            resource_name="t",
            name="min.insync.replicas",
            value="2",
        )
    )
    assert partition.log.config.min_insync_replicas == 2
    with pytest.raises(KafkaError) as error:
        node.manager.append(partition, batch(), -1, node.now_ms)
    assert error.value.code == ErrorCode.NOT_ENOUGH_REPLICAS


def test_high_watermarks_for_the_checkpoint(node: Node) -> None:
    partition = node.create_topic()
    node.append(partition, b"a", b"b")
    assert node.manager.high_watermarks() == {TP: 2}


def test_a_change_is_taken_in_partition_by_partition(node: Node) -> None:
    seen: list[tuple[int, set[bool]]] = []

    def breathe() -> None:
        partitions = list(node.manager.partitions())
        seen.append((len(partitions), {each.is_leader for each in partitions}))

    node.manager = ReplicaManager(1, node.log_manager, node.purgatory, node.config, None, breathe)
    node.create_topic("wide", partitions=5, number=9)
    assert seen == [(count, {True}) for count in range(1, 6)]
    seen.clear()
    node.apply(RemoveTopicRecord(topic_id=topic_id_of(9)))
    assert [count for count, _ in seen] == [4, 3, 2, 1, 0]


def test_changes_of_configurations_are_taken_in_topic_by_topic(node: Node) -> None:
    breaths: list[int] = []
    node.manager = ReplicaManager(
        1, node.log_manager, node.purgatory, node.config, None, lambda: breaths.append(1)
    )
    for number, name in ((8, "a"), (9, "b")):
        node.create_topic(name, partitions=3, number=number)
    breaths.clear()
    node.apply(
        *[
            ConfigRecord(
                resource_type=2, resource_name=name, name="max.message.bytes", value="1000"
            )
            for name in "ab"
        ]
    )
    assert len(breaths) == 6
    assert node.manager.find("b", 2).log.config.max_message_bytes == 1000  # type: ignore[union-attr]
