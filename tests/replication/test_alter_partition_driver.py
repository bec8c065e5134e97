"""AlterPartition: what is sent, how many at a time, and the effect of each response."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.alter_partition_request import AlterPartitionRequest
from pykbroker.protocol.messages.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from pykbroker.protocol.primitives import Message
from pykbroker.replication.alter_partition_driver import RETRY_MS, AlterPartitionDriver
from pykbroker.replication.isr_check_driver import IsrCheckDriver
from pykbroker.replication.partition import Partition
from tests.broker.handlers.data_plane import through_the_wire
from tests.kraft.node_world import ManualScheduler
from tests.replication.node import Node, topic_id_of
from tests.replication.test_hosting import changed

LAG_MS = 30_000


class Leader:
    """A node that leads, and a controller that the test plays."""

    def __init__(self) -> None:
        self.node = Node()
        self.scheduler = ManualScheduler(self.node.now_ms, self.node.files)
        self.sent: list[tuple[AlterPartitionRequest, Deferred]] = []
        self.progress = 0
        self.driver = AlterPartitionDriver(
            manager=self.node.manager,
            send_to_controller=self.send,
            scheduler=self.scheduler,
            now_ms=lambda: self.node.now_ms,
            broker_epoch=lambda: 77,
            on_progress=self.on_progress,
        )
        self.followed: list[tuple[str, Partition]] = []
        self.node.manager.connect(self.driver, self)
        for broker_id in (2, 3):
            self.node.register(broker_id)

    def on_progress(self) -> None:
        self.progress += 1

    def follow(self, partition: Partition) -> None:
        self.followed.append(("follow", partition))

    def leave(self, partition: Partition) -> None:
        self.followed.append(("leave", partition))

    def send(self, message: Message, deadline_ms: int) -> Deferred:
        assert isinstance(message, AlterPartitionRequest)
        answer = Deferred()
        self.sent.append((message, answer))
        return answer


def partitions_of(leader: Leader, count: int, isr: tuple[int, ...] = (1,)) -> list[Partition]:
    leader.node.create_topic(partitions=count, replicas=(1, 2, 3), isr=isr)
    found = [leader.node.manager.find("t", number) for number in range(count)]
    assert None not in found
    return found  # type: ignore[return-value]


def asked(message: AlterPartitionRequest) -> list[tuple[int, list[int]]]:
    return [(p.partition_index, new_isr(p)) for topic in message.topics for p in topic.partitions]


def new_isr(entry: Any) -> list[int]:
    assert not (entry.new_isr and entry.new_isr_with_epochs)
    return entry.new_isr or [state.broker_id for state in entry.new_isr_with_epochs]


def answer_of(message: AlterPartitionRequest, **changes: Any) -> AlterPartitionResponse:
    """The controller applied all of it; `changes` of the partitions' entries."""
    return AlterPartitionResponse(
        topics=[
            TopicData(
                topic_id=topic.topic_id,
                partitions=[
                    PartitionData(
                        **{
                            "partition_index": p.partition_index,
                            "leader_id": 1,
                            "leader_epoch": p.leader_epoch,
                            "isr": new_isr(p),
                            "partition_epoch": p.partition_epoch + 1,
                            **changes,
                        }
                    )
                    for p in topic.partitions
                ],
            )
            for topic in message.topics
        ]
    )


def test_one_request_at_a_time_takes_everything_that_is_queued() -> None:
    leader = Leader()
    first, second, third = partitions_of(leader, 3)
    for partition in (first, second, third):
        leader.node.follower_fetch(partition, 0)
    ((message, answer),) = leader.sent
    assert asked(message) == [(0, [1, 2])]
    assert (message.broker_id, message.broker_epoch) == (1, 77)
    (entry,) = message.topics[0].partitions
    assert message.topics[0].topic_id == topic_id_of(7)
    assert [(b.broker_id, b.broker_epoch) for b in entry.new_isr_with_epochs] == [(1, 77), (2, 10)]
    answer.resolve(answer_of(message))
    assert first.isr.members == {1, 2}
    assert leader.progress == 1
    _, (message, answer) = leader.sent
    assert asked(message) == [(1, [1, 2]), (2, [1, 2])]
    answer.resolve(answer_of(message))
    assert second.isr.members == third.isr.members == {1, 2}
    assert len(leader.sent) == 2


@pytest.mark.parametrize(
    "failure",
    [
        KafkaError(ErrorCode.REQUEST_TIMED_OUT),
        KafkaError(ErrorCode.NOT_CONTROLLER),
        AlterPartitionResponse(error_code=int(ErrorCode.STALE_BROKER_EPOCH)),
        AlterPartitionResponse(error_code=int(ErrorCode.NOT_CONTROLLER)),
        AlterPartitionResponse(),  # an answer that left the partition out
    ],
)
def test_what_was_not_answered_is_sent_again_after_a_pause(failure: object) -> None:
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    leader.sent[0][1].resolve(failure)
    assert partition.isr.maximal == {1, 2}
    leader.scheduler.advance(RETRY_MS - 1)
    assert len(leader.sent) == 1
    leader.scheduler.advance(1)
    message, answer = leader.sent[1]
    assert asked(message) == [(0, [1, 2])]
    answer.resolve(answer_of(message))
    assert partition.isr.members == {1, 2}


def test_a_controller_of_version_2_gets_no_broker_epochs() -> None:
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    message, answer = leader.sent[0]
    assert through_the_wire(message, 3) is not None
    answer.resolve(KafkaError(ErrorCode.UNSUPPORTED_VERSION))
    leader.scheduler.advance(RETRY_MS)
    message, answer = leader.sent[1]
    assert asked(through_the_wire(message, 2)) == [(0, [1, 2])]
    assert message.topics[0].partitions[0].new_isr_with_epochs == []
    answer.resolve(KafkaError(ErrorCode.UNSUPPORTED_VERSION))  # another controller by now
    leader.scheduler.advance(RETRY_MS)
    assert asked(through_the_wire(leader.sent[2][0], 3)) == [(0, [1, 2])]


def test_an_unknown_error_of_a_partition_is_tried_again_after_a_pause() -> None:
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    message, answer = leader.sent[0]
    answer.resolve(answer_of(message, error_code=int(ErrorCode.UNKNOWN_SERVER_ERROR)))
    assert len(leader.sent) == 1
    leader.scheduler.advance(RETRY_MS)
    assert asked(leader.sent[1][0]) == [(0, [1, 2])]


def test_a_recovery_state_that_does_not_exist_is_an_error_of_the_controller() -> None:
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    message, answer = leader.sent[0]
    answer.resolve(answer_of(message, leader_recovery_state=9))
    assert partition.isr.members == {1}
    assert len(leader.sent) == 1
    leader.scheduler.advance(RETRY_MS)
    assert len(leader.sent) == 2


def test_a_refusal_frees_the_partition_for_the_next_change() -> None:
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    message, answer = leader.sent[0]
    answer.resolve(answer_of(message, error_code=int(ErrorCode.INELIGIBLE_REPLICA)))
    leader.node.follower_fetch(partition, 0, replica_id=3)
    assert asked(leader.sent[1][0]) == [(0, [1, 3])]


def test_a_change_after_new_metadata_waits_for_the_answer_to_the_old_one() -> None:
    """Kafka refuses it with OPERATION_NOT_ATTEMPTED: the leader tries with a later fetch."""
    leader = Leader()
    (partition,) = partitions_of(leader, 1)
    leader.node.follower_fetch(partition, 0)
    leader.node.apply(changed(isr=[1], leader=1))  # the controller elected this node once more
    leader.node.follower_fetch(partition, 0)
    assert len(leader.sent) == 1
    assert not partition.isr.change_in_flight
    message, answer = leader.sent[0]
    answer.resolve(answer_of(message, error_code=int(ErrorCode.FENCED_LEADER_EPOCH)))
    leader.node.follower_fetch(partition, 0)
    assert leader.sent[1][0].topics[0].partitions[0].leader_epoch == 1


def test_without_a_way_to_the_controller_a_change_is_not_attempted() -> None:
    node = Node()
    node.register(2)
    partition = node.create_topic(replicas=(1, 2), isr=(1,))
    node.follower_fetch(partition, 0)
    assert not partition.isr.change_in_flight


def test_a_shrink_ends_the_wait_of_acks_all_and_of_coordinators() -> None:
    leader = Leader()
    node = leader.node
    (partition,) = partitions_of(leader, 1, isr=(1, 2, 3))
    check = IsrCheckDriver(node.manager, leader.scheduler, lambda: leader.scheduler.now_ms, LAG_MS)
    check.start()
    heard: list[int] = []

    class Listener:
        def on_high_watermark(self, _: object, high_watermark: int) -> None:
            heard.append(high_watermark)

        def on_failed(self, _: object, code: int) -> None:
            raise AssertionError(code)

    node.manager.watch(partition.topic_partition, Listener())
    node.append(partition, b"v")
    assert heard == []
    leader.scheduler.advance(LAG_MS + LAG_MS // 2)
    message, answer = leader.sent[0]
    assert asked(message) == [(0, [1])]
    assert heard == []
    answer.resolve(answer_of(message))
    assert heard == [1]
    assert leader.progress == 1
    check.close()
    assert not [timer for timer in leader.scheduler.timers if timer.callback]


def test_shrinks_of_new_metadata_end_the_wait_of_coordinators() -> None:
    leader = Leader()
    node = leader.node
    (partition,) = partitions_of(leader, 1, isr=(1, 2, 3))
    heard: list[int] = []

    class Listener:
        def on_high_watermark(self, _: object, high_watermark: int) -> None:
            heard.append(high_watermark)

        def on_failed(self, _: object, code: int) -> None:
            raise AssertionError(code)

    node.manager.watch(partition.topic_partition, Listener())
    node.append(partition, b"v")
    node.apply(changed(isr=[1]))
    assert heard == [1]


def test_closed_it_sends_nothing_more() -> None:
    leader = Leader()
    first, second = partitions_of(leader, 2)
    leader.node.follower_fetch(first, 0)
    message, answer = leader.sent[0]
    leader.driver.close()
    answer.resolve(answer_of(message))
    leader.node.follower_fetch(second, 0)
    leader.scheduler.advance(1000)
    assert len(leader.sent) == 1
    assert first.isr.members == {1}
