"""The runtime: loading in slices, failures, elections, timers, several partitions."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pykbroker.coordinator import loading_driver
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.hosted_shard import HostState
from pykbroker.coordinator.partitioning import partition_for
from pykbroker.coordinator.runtime_driver import SPLIT_RECORDS
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol import compression
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.list_groups_request import ListGroupsRequest
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.protocol.record_batch import read_header
from tests.coordinator.group_world import GroupWorld
from tests.coordinator.memory_log import MemoryLog, VirtualLoop


def hosted(world: GroupWorld) -> Any:
    return world.groups.runtime._hosted[0]


def test_an_empty_partition_is_active_at_once_without_a_machine() -> None:
    world = GroupWorld()
    world.elect()
    assert hosted(world).state is HostState.ACTIVE
    assert hosted(world).shard is None
    world.commit()
    assert hosted(world).shard is not None


def test_requests_while_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading_driver, "SLICE_MS", 0)
    world = GroupWorld()
    world.elect()
    for number in range(30):
        world.commit(offsets=",".join(f"t-{number}:{n}" for n in range(10)))
    world.groups.runtime.on_resigned(0)
    world.elect(epoch=1)
    assert hosted(world).state is HostState.LOADING
    world.loop._calls[0].callback()  # one slice: not all of it
    assert hosted(world).state is HostState.LOADING
    reply = world.commit()
    assert reply.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.fetch().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.heartbeat(member="m", generation=1).error_code == 0
    assert world.list().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    (described,) = world.describe()
    assert described.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.delete_topics("t")  # remembered
    world.advance(0)
    assert hosted(world).state is HostState.ACTIVE
    assert [g.group_id for g in world.list().groups] == ["g"]
    assert world.fetch().topics == []


def test_a_log_that_cannot_be_read_fails_that_partition(caplog: pytest.LogCaptureFixture) -> None:
    world = GroupWorld()
    world.elect()
    world.commit()
    batches = world.log.partitions[0].batches
    batches[0] = batches[0][:-1] + b"?"
    world.restart()
    what = "__consumer_offsets-0 cannot be loaded: the batch at offset 0 fails its checksum"
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []
    assert what in caplog.text
    assert hosted(world).state is HostState.FAILED
    reply = world.commit()
    assert reply.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    assert world.list().groups == []
    batches.clear()
    world.log.partitions[0].end = 0
    world.elect(epoch=0)  # a new election tries again
    assert hosted(world).state is HostState.ACTIVE


def test_a_partition_that_is_not_here_fails(caplog: pytest.LogCaptureFixture) -> None:
    world = GroupWorld()
    runtime = world.groups.runtime
    world.log.partitions.clear()
    world.log.watch = lambda partition, listener: None  # type: ignore[method-assign]
    with caplog.at_level(logging.CRITICAL):
        runtime.on_elected(0, 0)
    assert hosted(world).state is HostState.FAILED


def test_a_lost_write_throws_the_machine_away_and_loads_it_anew() -> None:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.commit(group="simple", offsets="t-0:1")
    waiting = world.join("j", version=3)
    world.log.hold_commits = True
    request = commit_request("simple", 2)
    parked = world.groups.commit_offsets(request, 9)
    assert world.shard.offsets.get("simple", "t", 0).offset == 2  # type: ignore[union-attr]
    world.log.lose_queued(int(ErrorCode.KAFKA_STORAGE_ERROR))
    assert isinstance(parked, Deferred)
    assert parked.value.topics[0].partitions[0].error_code == ErrorCode.NOT_COORDINATOR
    assert waiting.value.error_code == ErrorCode.NOT_COORDINATOR
    world.log.hold_commits = False
    world.advance(0)
    assert world.fetch(group="simple", topics="t-0").topics[0].partitions[0].committed_offset == 1


def commit_request(group: str, offset: int) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
    return OffsetCommitRequest(group_id=group, topics=[topic])


def test_a_bug_in_a_step_costs_the_machine_not_the_log() -> None:
    world = GroupWorld()
    world.elect()
    world.commit(offsets="t-0:1")

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        world.groups.runtime.write(0, broken, None, None, lambda *_: None)  # type: ignore[arg-type]
    world.advance(0)
    assert world.fetch(topics="t-0").topics[0].partitions[0].committed_offset == 1


def test_a_bug_while_a_decision_is_carried_out_costs_the_machine_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = GroupWorld(initial_rebalance_delay_ms=1000)
    world.elect()
    world.commit(group="simple", offsets="t-0:1")
    waiting = world.join(version=3)
    with monkeypatch.context() as patch, caplog.at_level(logging.CRITICAL):
        patch.setattr(world.shard.__class__, "replay", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.groups.commit_offsets(commit_request("simple", 2), 9)
        assert waiting.value.error_code == ErrorCode.NOT_COORDINATOR
    world.advance(0)
    assert hosted(world).state is HostState.ACTIVE
    # Its record is in the log all the same.
    assert world.fetch(group="simple", topics="t-0").topics[0].partitions[0].committed_offset == 2


def test_text_too_long_for_a_record_is_refused_and_leaves_nothing() -> None:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    group = "\ufffd" * 20_000  # what 20,000 bytes that are no UTF-8 become
    refused = world.groups.join(join_request(group), 3, "client", "127.0.0.1")
    assert not isinstance(refused, Deferred)
    assert refused.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert world.shard.groups == {}
    request = commit_request(group, 1)
    reply = world.groups.commit_offsets(request, 9)
    assert not isinstance(reply, Deferred)
    assert reply.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert hosted(world).state is HostState.ACTIVE
    assert hosted(world).waiting == {}


def join_request(group: str) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )


def test_a_bug_in_a_timer_costs_the_machine_not_the_node(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = GroupWorld(initial_rebalance_delay_ms=1000)
    world.elect()
    waiting = world.join(version=3)
    with monkeypatch.context() as patch, caplog.at_level(logging.CRITICAL):
        patch.setattr(
            "pykbroker.coordinator.group.classic.rebalance.join_timer_expired",
            lambda step, group: 1 / 0,
        )
        world.advance(1000)
    assert waiting.value.error_code == ErrorCode.NOT_COORDINATOR
    assert world.join(version=4).error_code == ErrorCode.MEMBER_ID_REQUIRED


def test_elections() -> None:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect(epoch=5)
    waiting = world.join(version=3)
    world.elect(epoch=5)
    world.elect(epoch=4)  # old news
    assert hosted(world).leader_epoch == 5
    world.elect(epoch=6)  # nobody led in between
    assert hosted(world).leader_epoch == 6
    assert not waiting.done
    world.elect(epoch=8)  # somebody may have
    assert waiting.value.error_code == ErrorCode.NOT_COORDINATOR
    assert hosted(world).leader_epoch == 8
    assert len(world.log.partitions[0].listeners) == 1


def test_groups_of_many_partitions() -> None:
    loop, log = VirtualLoop(), MemoryLog()
    groups = GroupCoordinator(
        node_id=1,
        settings=GroupSettings(),
        log=log,
        scheduler=loop,
        clock=loop,
        new_uuid=str,
    )
    for partition in range(50):
        groups.runtime.on_elected(partition, 0)
    assert loop._calls == []  # nothing to load
    names = [f"group-{number}" for number in range(20)]
    for name in names:
        reply = groups.commit_offsets(commit_request(name, 1), 9)
        assert isinstance(reply, Deferred)
        log.end_turn()
        assert reply.value.topics[0].partitions[0].error_code == 0
        assert groups.partition_for(name) == partition_for(name, 50)
    listed = groups.list_groups(ListGroupsRequest(), 5)
    assert not isinstance(listed, Deferred)
    assert sorted(group.group_id for group in listed.groups) == sorted(names)
    described = groups.describe(names, 6)
    assert not isinstance(described, Deferred)
    assert [group.group_id for group in described] == names
    deleted = groups.delete_groups([*names, names[0]])
    assert isinstance(deleted, Deferred)
    log.end_turn()
    assert [result.group_id for result in deleted.value] == names
    groups.runtime.on_resigned(partition_for(names[0], 50))
    results = groups.delete_groups(names[:1])
    assert not isinstance(results, Deferred)
    (result,) = results
    assert result.error_code == ErrorCode.NOT_COORDINATOR


def test_many_tombstones_are_written_in_several_batches() -> None:
    world = GroupWorld()
    world.elect()
    count = 3 * SPLIT_RECORDS
    world.commit(offsets=",".join(f"t-{n}:1" for n in range(count)))
    before = len(world.log.partitions[0].batches)
    world.delete_topics("t")
    assert len(world.log.partitions[0].batches) == before + 3
    assert world.fetch().topics == []


def test_batches_are_compressed_with_the_codec_of_the_settings() -> None:
    world = GroupWorld(compression_codec=compression.GZIP)
    world.elect()
    world.commit(offsets="t-0:7")
    assert [read_header(each).codec for each in world.log.partitions[0].batches] == [1]
    world.restart()
    assert world.fetch().topics[0].partitions[0].committed_offset == 7


def test_timers_wake_the_worker() -> None:
    world = GroupWorld(initial_rebalance_delay_ms=10)
    world.elect()
    world.join(version=3)
    wakes = world.log.wakes
    world.advance(10)
    assert world.log.wakes == wakes + 1


def marker(committed: bool = True, version: int = 2) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=77, producer_epoch=3, transaction_result=committed, transaction_version=version
    )


def test_the_end_of_a_transaction_is_written_and_answered_when_it_is_committed() -> None:
    world = GroupWorld()
    world.elect()
    world.log.hold_commits = True
    outcome = world.groups.end_transaction(0, marker())
    assert isinstance(outcome, Deferred)
    assert world.log.appended_with == (None, 2)
    world.log.end_turn()
    assert not outcome.done
    (batch,) = world.log.partitions[0].batches
    header = read_header(batch)
    assert (header.producer_id, header.producer_epoch, header.is_control) == (77, 3, True)
    world.log.hold_commits = False
    world.log.end_turn()
    assert outcome.value == 0


def test_the_end_of_a_transaction_that_the_log_refuses_changes_nothing() -> None:
    world = GroupWorld()
    world.elect()
    world.log.refuse_with = int(ErrorCode.INVALID_PRODUCER_EPOCH)
    assert world.groups.end_transaction(0, marker()) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert world.log.partitions[0].batches == []
    assert hosted(world).next_offset == 0


def test_the_end_of_a_transaction_that_is_not_committed_in_time() -> None:
    world = GroupWorld()
    world.elect()
    world.log.hold_commits = True
    outcome = world.groups.end_transaction(0, marker())
    assert isinstance(outcome, Deferred)
    world.advance(world.settings.commit_timeout_ms)
    assert outcome.value == ErrorCode.REQUEST_TIMED_OUT


def test_a_partition_that_is_not_led_ends_no_transaction() -> None:
    world = GroupWorld()
    assert world.groups.end_transaction(0, marker()) == ErrorCode.NOT_COORDINATOR
    world.elect()
    world.commit()
    world.groups.runtime.on_resigned(0)
    world.elect(epoch=1)
    assert hosted(world).state is HostState.LOADING
    assert world.groups.end_transaction(0, marker()) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_a_bug_while_a_transaction_ends_costs_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    world = GroupWorld()
    world.elect()
    world.commit(offsets="t-0:1")
    with monkeypatch.context() as patch:
        patch.setattr(world.shard.__class__, "replay_end_of_transaction", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            world.groups.end_transaction(0, marker())
    world.advance(0)
    assert world.fetch(topics="t-0").topics[0].partitions[0].committed_offset == 1


def test_stop_refuses_everybody_and_leaves_no_timer() -> None:
    world = GroupWorld(initial_rebalance_delay_ms=10)
    world.elect()
    waiting = world.join(version=3)
    world.groups.stop()
    assert waiting.value.error_code == ErrorCode.NOT_COORDINATOR
    world.advance(1_000_000)
    assert world.log.partitions[0].listeners == []
