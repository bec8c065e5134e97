"""A record that changes very many partitions is replayed in slices, and seen as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.deferred import Deferred
from pykbroker.kraft import publisher
from pykbroker.kraft.controller import requests
from pykbroker.kraft.delta import InconsistentMetadata
from pykbroker.kraft.metadata_snapshot import Snapshot, SnapshotId
from pykbroker.kraft.raft import commit_delivery
from pykbroker.protocol.messages import alter_configs_request as legacy
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from pykbroker.protocol.messages.clear_elr_record import ClearElrRecord
from pykbroker.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from tests.harness.breathing import breathing_slices
from tests.harness.records import partition_record
from tests.kraft.node_world import NodeWorld
from tests.kraft.test_controller_driver import Sliced
from tests.kraft.test_publisher import LongLog, topic

PARTITIONS = 6
KEY = "min.insync.replicas"


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "MANY", PARTITIONS - 1)
    monkeypatch.setattr(requests, "MANY_PARTITIONS", PARTITIONS - 1)


class Turns:
    """A world whose slices end with every breath; `look` is called before each of them."""

    def __init__(self) -> None:
        self.world = NodeWorld()
        self.world.slices = breathing_slices(self)  # type: ignore[assignment]
        self.look: Callable[[], None] = lambda: None
        self.world.open()

    def call_soon(self, callback: Callable[..., object], *arguments: object) -> None:
        def turn() -> None:
            self.look()
            callback(*arguments)

        self.world.scheduler.call_soon(turn)

    def eligible(self) -> list[bool]:
        """Return whether each partition of the published image has an eligible leader."""
        topics = self.world.node.image.topics_by_id.values()
        return [bool(at.elr) for one in topics for at in one.partitions.values()]

    def fence(self) -> None:
        world = self.world
        request = BrokerHeartbeatRequest(
            broker_id=1, broker_epoch=world.node.broker_epoch, want_fence=True
        )
        world.settle(world.controller.submit(request, 1))


def set_cluster_value(value: str) -> IncrementalAlterConfigsRequest:
    setting = AlterableConfig(name=KEY, config_operation=0, value=value)
    cluster = AlterConfigsResource(resource_type=4, resource_name="", configs=[setting])
    return IncrementalAlterConfigsRequest(resources=[cluster])


def test_all_eligible_leaders_are_cleared_in_slices_and_seen_at_once() -> None:
    turns = Turns()
    world = turns.world
    world.settle(world.create("t", PARTITIONS - 1))
    world.settle(world.create("u"))
    turns.fence()
    assert turns.eligible() == [True] * PARTITIONS
    cleared = world.controller.submit(set_cluster_value("2"), 1)
    later: list[Deferred] = []
    seen: list[tuple[list[bool], bool, bool]] = []

    def look() -> None:
        seen.append((turns.eligible(), cleared.done, bool(later) and later[0].done))
        if len(seen) == 3:  # the first decision breathes
            later.append(world.controller.submit(set_cluster_value("1"), 1))

    turns.look = look
    assert world.settle(cleared).responses[0].error_code == 0
    assert world.settle(later[0]).responses[0].error_code == 0
    assert len([at for at in seen if not at[1]]) > 4 * PARTITIONS
    for eligible, is_answered, is_later_answered in seen:
        assert eligible in ([True] * PARTITIONS, [False] * PARTITIONS)
        assert is_answered or not is_later_answered
        assert not (is_answered and any(eligible))
    assert world.node.image.cluster_config()[KEY] == "1"
    assert not world.fatal
    world.node.close()


def test_the_log_of_a_node_that_opens_is_replayed_in_one_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commit_delivery, "PORTION_RECORDS", 1)
    turns = Turns()
    world = turns.world
    world.settle(world.create("t", PARTITIONS))
    turns.fence()
    world.settle(world.controller.submit(set_cluster_value("2"), 1))
    world.node.close()
    world.open(serve=False)
    assert turns.eligible() == [False] * PARTITIONS
    world.node.close()


def test_changes_of_that_setting_are_decided_in_slices() -> None:
    world = NodeWorld().open()
    sliced = Sliced()
    world.controller._slices = sliced
    world.create("t", PARTITIONS - 1)
    own = AlterableConfig(name=KEY, config_operation=0, value="1")
    other = AlterableConfig(name="retention.ms", config_operation=0, value="1")

    def alter(config: AlterableConfig) -> None:
        resource = AlterConfigsResource(resource_type=2, resource_name="t", configs=[config])
        world.controller.submit(IncrementalAlterConfigsRequest(resources=[resource]), 1)

    alter(own)
    assert sliced.jobs == []
    world.create("u")
    alter(other)  # the topic has the setting: an AlterConfigs request would remove it
    whole = legacy.AlterConfigsResource(resource_type=2, resource_name="t", configs=[])
    world.controller.submit(legacy.AlterConfigsRequest(resources=[whole]), 1)
    assert sliced.jobs == ["IncrementalAlterConfigsRequest", "AlterConfigsRequest"]
    alter(other)
    assert len(sliced.jobs) == 2
    alter(own)
    assert len(sliced.jobs) == 3


# The loader.


class WideLog(LongLog):
    """A log of one published topic with eligible leaders."""

    def __init__(self) -> None:
        super().__init__()
        parts = [
            partition_record(b"a" * 16, number, eligible_leader_replicas=[1])
            for number in range(PARTITIONS)
        ]
        self.take("made", topic("a"), *parts)
        self.calls.clear()

    def clear(self, *others: Any, name: str = "") -> Deferred | None:
        batch = self.batch(ClearElrRecord(topic_name=name), *others)
        published = lambda: self.published.append("cleared")  # noqa: E731
        return self.loader.on_commit([batch], published, may_breathe=True)


@pytest.mark.parametrize("name", ["", "a"])
def test_a_long_replay_is_published_when_it_is_done(name: str) -> None:
    log = WideLog()
    replayed = log.clear(name=name)
    assert replayed is not None
    assert (replayed.done, log.calls, log.published) == (False, [], ["made"])
    log.slices.go_on()
    assert (replayed.done, replayed.value) == (True, None)
    assert (log.calls, log.published) == ([("first", ["a"])], ["made", "cleared"])


def test_few_partitions_are_replayed_at_once() -> None:
    log = WideLog()
    assert log.loader.on_commit([log.batch(topic("b"))], may_breathe=True) is None
    assert log.clear(name="b") is None
    assert log.published == ["made", "cleared"]


def test_a_long_replay_that_fails_says_why() -> None:
    log = WideLog()
    replayed = log.clear(ClearElrRecord(topic_name="none"))
    log.slices.go_on()
    assert replayed is not None
    assert isinstance(replayed.value, InconsistentMetadata)


@pytest.mark.parametrize("breath", [0, 1, PARTITIONS])
def test_a_snapshot_replaces_what_is_being_replayed(breath: int) -> None:
    log = WideLog()
    breaths: list[None] = []

    def load() -> None:
        breaths.append(None)
        if len(breaths) == max(breath, 1):
            z = MetadataRecord(topic("z"))
            log.loader.load_snapshot(Snapshot(SnapshotId(40, 3), 77, 1, None, [z]))

    log.slices.breathe = load  # type: ignore[method-assign]
    replayed = log.clear(topic("b"))
    assert replayed is not None
    if breath == 0:
        load()
    log.slices.go_on()
    assert (replayed.done, replayed.value) == (True, None)
    assert len(breaths) > breath
    while log.slices.jobs:
        log.slices.go_on()
    assert log.published == ["made"]
    assert log.calls == [("first", ["z"])]
    assert set(log.loader.image.topics_by_name) == {"z"}
    assert set(log.loader.committed().stable.topics_by_name) == {"z"}


def test_a_snapshot_follows_what_was_published_before_it() -> None:
    """A transaction begins after the first records, so they are stable before they are added."""
    log = WideLog()

    def load() -> None:
        if "b" in log.loader._replay.stable.topics_by_name:
            log.slices.breathe = lambda: None  # type: ignore[method-assign]
            records = [MetadataRecord(topic(name)) for name in "ab"]
            log.loader.load_snapshot(Snapshot(SnapshotId(40, 3), 77, 1, None, records))

    log.slices.breathe = load  # type: ignore[method-assign]
    log.clear(topic("b"), BeginTransactionRecord(name="x"), topic("c"))
    while log.slices.jobs:
        log.slices.go_on()
    assert log.calls == [("first", ["a", "b"])]
    assert set(log.loader.image.topics_by_name) == {"a", "b"}


# The driver.


class Slow:
    """A listener that handles batches when the test says so."""

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.leaders: list[int] = []
        self.pending = Deferred()

    def on_commit(self, batches: Any) -> Deferred:
        self.offsets.append(batches[-1].last_offset)
        self.pending = Deferred()
        return self.pending

    def on_snapshot(self, snapshot: Snapshot) -> None:
        raise AssertionError("a quorum of one loads no snapshot")

    def on_leader(self, leader_id: int, epoch: int) -> None:
        self.leaders.append(leader_id)


def slow_node() -> tuple[NodeWorld, Slow]:
    world = NodeWorld().open()
    listener = Slow()
    world.node.raft._listener = listener
    return world, listener


def append(world: NodeWorld) -> int:
    raft = world.node.raft
    raft.append(raft.prepare([MetadataRecord(NoOpRecord())], atomic=True))
    return raft.log.log.next_offset - 1


def test_nothing_is_delivered_while_the_listener_is_busy() -> None:
    world, listener = slow_node()
    first, second, third = (append(world) for _ in range(3))
    world.scheduler.advance(1)
    assert listener.offsets == [first]
    listener.pending.resolve(None)
    world.scheduler.advance(1)
    assert listener.offsets == [first, third]
    assert second == first + 1
    listener.pending.resolve(None)
    assert append(world) == listener.offsets[-1]


def test_a_leader_is_announced_when_the_listener_has_handled_its_log() -> None:
    world, listener = slow_node()
    append(world)
    world.node.raft.resign()
    world.scheduler.advance(60_000)
    assert world.node.raft.raft.is_leader
    assert 1 not in listener.leaders
    while not listener.pending.done:
        listener.pending.resolve(None)
        world.scheduler.advance(1)
    assert listener.leaders[-1] == 1


def test_a_listener_that_cannot_handle_a_batch_stops_the_node() -> None:
    world, listener = slow_node()
    append(world)
    append(world)
    failure = InconsistentMetadata("a bug")
    listener.pending.resolve(failure)
    world.scheduler.advance(1)
    assert world.fatal == [failure]
    assert len(listener.offsets) == 1
