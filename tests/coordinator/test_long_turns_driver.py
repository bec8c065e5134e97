"""Operations that breathe on a coordinator's machine, and what comes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from tests.coordinator.group_world import GroupWorld
from tests.harness.breathing import breathing_slices

SIMPLE = -1
ALL = OffsetFetchRequestGroup(group_id="g", topics=None)


class SlicedWorld(GroupWorld):
    """Jobs end their slice wherever they breathe."""

    def start(self) -> None:
        self.slices = breathing_slices(self.loop)
        self.groups = GroupCoordinator(
            node_id=1,
            settings=self.settings,
            log=self.log,
            scheduler=self.loop,
            clock=self.loop,
            new_uuid=self._new_uuid,
            slices=self.slices,
        )


@pytest.fixture
def world() -> Iterator[SlicedWorld]:
    world = SlicedWorld()
    world.elect()
    world.commit(offsets="t-0:1")
    yield world
    world.slices.close()


def commit_of(count: int, offset: int = 7) -> OffsetCommitRequest:
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
        for index in range(count)
    ]
    topic = OffsetCommitRequestTopic(name="t", partitions=partitions)
    return OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=SIMPLE, topics=[topic])


def state(world: SlicedWorld) -> HostState:
    found: HostState = world.groups.runtime._hosted[0].state
    return found


def turns(world: SlicedWorld, count: int) -> None:
    """Let the event loop call so many callbacks."""
    for _ in range(count):
        world.loop._calls.sort()
        call = world.loop._calls.pop(0)
        call.callback()
        world.log.end_turn()


def in_job(world: SlicedWorld, ask: Callable[[], Any]) -> Deferred:
    """What `ask` returns when it runs as a job."""
    answer = Deferred()

    def asked(outcome: Any) -> None:
        if isinstance(outcome, Deferred):
            outcome.on_resolved(answer.resolve)
        else:
            answer.resolve(outcome)

    world.slices.run("job", ask).on_resolved(asked)
    return answer


def long_commit(world: SlicedWorld, count: int = 20, offset: int = 7) -> Deferred:
    return in_job(world, lambda: world.groups.commit_offsets(commit_of(count, offset), 9))


def codes(response: Any) -> set[int]:
    return {partition.error_code for topic in response.topics for partition in topic.partitions}


def committed(world: SlicedWorld) -> dict[int, int]:
    offsets = world.shard.offsets.committed["g"]["t"]
    return {index: entry.offset for index, entry in offsets.items()}


def test_a_long_commit_lets_the_loop_have_turns(world: SlicedWorld) -> None:
    answer = long_commit(world)
    turns(world, 10)
    assert state(world) is HostState.BUSY
    assert not answer.done
    assert committed(world) == {0: 1}  # decided bit by bit, seen as a whole
    world.advance(0)
    assert codes(answer.value) == {0}
    assert state(world) is HostState.ACTIVE
    assert committed(world) == dict.fromkeys(range(20), 7)
    assert len(world.log.partitions[0].batches) == 2  # atomic: one batch


def test_requests_wait_until_it_is_through_and_keep_their_order(world: SlicedWorld) -> None:
    long = long_commit(world)
    turns(world, 5)
    read: Any = world.groups.fetch_offsets(ALL, False)
    write: Any = world.groups.commit_offsets(commit_of(1, offset=8), 9)
    read_again: Any = world.groups.fetch_offsets(ALL, False)
    assert [answer.done for answer in (read, write, read_again)] == [False] * 3
    world.advance(0)
    assert codes(long.value) == codes(write.value) == {0}
    for answer, offset in ((read, 7), (read_again, 8)):
        (topic,) = answer.value.topics
        assert topic.partitions[0].committed_offset == offset
        assert len(topic.partitions) == 20


def test_two_long_operations_are_done_one_after_the_other(world: SlicedWorld) -> None:
    first, second = long_commit(world, offset=7), long_commit(world, offset=8)
    turns(world, 5)
    third = long_commit(world, count=5, offset=9)
    world.advance(0)
    assert codes(first.value) == codes(second.value) == codes(third.value) == {0}
    assert committed(world) == {index: 9 if index < 5 else 8 for index in range(20)}
    assert state(world) is HostState.ACTIVE


def test_a_marker_and_a_deleted_topic_wait_too(world: SlicedWorld) -> None:
    long = long_commit(world)
    turns(world, 5)
    marker = WritableTxnMarker(producer_id=1, producer_epoch=0, transaction_result=True)
    ended: Any = world.groups.end_transaction(0, marker)
    world.delete_topics("t")
    assert not ended.done
    turns(world, 3)
    assert not ended.done
    world.advance(0)
    assert ended.value == 0
    assert codes(long.value) == {0}
    assert "g" not in world.shard.offsets.committed


def test_a_machine_that_is_thrown_away_refuses_all_that_waits(world: SlicedWorld) -> None:
    long = long_commit(world)
    turns(world, 5)
    read: Any = world.groups.fetch_offsets(ALL, False)
    world.groups.runtime.on_resigned(0)
    assert read.value.error_code == ErrorCode.NOT_COORDINATOR
    world.advance(0)
    assert codes(long.value) == {ErrorCode.NOT_COORDINATOR}
    world.elect(epoch=1)
    world.advance(0)
    assert committed(world) == {0: 1}


def test_a_lost_write_while_it_breathes_refuses_it(world: SlicedWorld) -> None:
    world.log.hold_commits = True
    parked: Any = world.groups.commit_offsets(commit_of(1, offset=2), 9)  # queued, not written
    long = long_commit(world)
    world.loop._calls.sort()
    for _ in range(5):
        world.loop._calls.pop(0).callback()
    world.log.lose_queued(int(ErrorCode.KAFKA_STORAGE_ERROR))
    assert codes(parked.value) == {ErrorCode.NOT_COORDINATOR}
    world.log.hold_commits = False
    world.advance(0)
    assert codes(long.value) == {ErrorCode.NOT_COORDINATOR}
    assert committed(world) == {0: 1}


def test_a_session_does_not_end_while_a_heartbeat_waits() -> None:
    world = SlicedWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.join("j", version=3, session=10_000)
    world.advance(0)
    (member,) = world.group("g").members
    world.sync("s", member=member, generation=1, assign=f"{member}:x")
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=list(range(50)))]
    asked = OffsetFetchRequestGroup(group_id="g", topics=topics)
    long = in_job(world, lambda: world.groups.fetch_offsets(asked, False))
    turns(world, 5)
    world.loop.time_ms += 10_000  # the session's timer is due
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id=member)
    beat: Any = world.groups.heartbeat(request)
    assert not beat.done
    world.advance(0)
    assert long.done
    assert beat.value.error_code == 0
    world.advance(9_999)
    assert list(world.group("g").members) == [member]
    world.advance(1)
    assert not world.group("g").members
    world.slices.close()
