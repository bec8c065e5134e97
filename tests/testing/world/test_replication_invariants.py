"""The rules of replication notice what breaks them: played nodes with real logs."""

from __future__ import annotations

from copy import copy
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.config import TopicConfig
from pykbroker.replication.isr import IsrState
from pykbroker.testing.world.node import NodeState
from pykbroker.testing.world.replication_invariants import ReplicationRules
from pykbroker.testing.world.world import Violation
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, append, batch_of, memory_disk, open_orders

TOPIC_ID = b"t" * 16


class Stage:
    """Two nodes with a replica of one partition each, and the rules that look at them."""

    def __init__(self) -> None:
        self.nodes = [self._node(number) for number in (1, 2)]
        self.rules = ReplicationRules(self.nodes)

    @staticmethod
    def _node(number: int) -> Any:
        name = f"node-{number}"
        files = memory_disk()
        partition = SimpleNamespace(
            topic="t",
            topic_id=TOPIC_ID,
            index=0,
            topic_partition=TopicPartition("t", 0),
            log=open_orders(files),
            hosted=True,
            leader_epoch=0,
            is_leader=False,
            high_watermark=0,
            replicas=(1, 2),
            isr=IsrState(frozenset((1, 2))),
        )
        partition.bound = lambda isolation: partition.high_watermark
        manager = SimpleNamespace(partitions=lambda: [partition])
        return SimpleNamespace(
            node_id=number,
            name=name,
            starts=1,
            state=NodeState.UP,
            has_failed=False,
            machine=SimpleNamespace(files=files),
            server=SimpleNamespace(replica_manager=manager),
            partition=partition,
        )

    def replica(self, number: int) -> Any:
        return self.nodes[number - 1].partition

    def append(self, number: int, value: str, epoch: int = 0) -> None:
        append(self.replica(number).log, value.encode(), epoch=epoch)

    def check(self, number: int, **changed: Any) -> None:
        node = self.nodes[number - 1]
        vars(node.partition).update(changed)
        self.rules.check(node, node.server)

    def replicated(self) -> Stage:
        """Node 1 leads epoch 0, and both have a record, which is committed."""
        self.append(1, "a")
        self.append(2, "a")
        self.check(1, is_leader=True, high_watermark=1)
        self.check(2, high_watermark=1)
        return self


def test_what_is_right_passes() -> None:
    stage = Stage().replicated()
    assert stage.rules.committed_end(TOPIC_ID, 0) == 1
    assert stage.rules.leader_changes == {"t": 1}
    stage.append(2, "b", epoch=1)
    stage.check(2, is_leader=True, leader_epoch=1, high_watermark=2)
    assert stage.rules.leader_changes == {"t": 2}


def test_two_leaders_of_an_epoch() -> None:
    stage = Stage().replicated()
    with pytest.raises(Violation, match="epoch 0 is also led by node 1"):
        stage.check(2, is_leader=True)


def test_a_leader_that_learns_late_of_its_election() -> None:
    stage = Stage()
    stage.append(1, "a", epoch=2)
    stage.check(1, is_leader=True, leader_epoch=2, high_watermark=1)
    stage.check(2, is_leader=True, leader_epoch=1)
    with pytest.raises(Violation, match="leads epoch 3 with a log that ends at 0; committed is 1"):
        stage.check(2, is_leader=True, leader_epoch=3)


def test_a_leader_without_what_is_committed() -> None:
    stage = Stage()
    stage.append(1, "a")
    stage.check(1, is_leader=True, high_watermark=1)
    with pytest.raises(Violation, match="ends at 0; committed is 1"):
        stage.check(2, is_leader=True, leader_epoch=1)


def test_a_leader_with_something_else() -> None:
    stage = Stage()
    stage.append(1, "a")
    stage.check(1, is_leader=True, high_watermark=1)
    stage.append(2, "b")
    with pytest.raises(Violation, match="at 0, committed is"):
        stage.check(2, is_leader=True, leader_epoch=1)


def test_a_follower_with_something_else() -> None:
    stage = Stage()
    stage.append(1, "a")
    stage.check(1, is_leader=True, high_watermark=1)
    stage.append(2, "b")
    stage.check(2)
    with pytest.raises(Violation, match="at 0, committed is"):
        stage.check(2, high_watermark=1)


def test_a_follower_that_is_ahead_of_what_is_committed() -> None:
    stage = Stage().replicated()
    stage.append(2, "b")
    with pytest.raises(Violation, match="high watermark is 2, leaders have committed 1"):
        stage.check(2, high_watermark=2)


def test_a_high_watermark_that_goes_back() -> None:
    stage = Stage().replicated()
    with pytest.raises(Violation, match="went from"):
        stage.check(1, high_watermark=0)


def test_a_replica_that_is_cut() -> None:
    stage = Stage().replicated()
    stage.append(2, "not committed")
    stage.check(2)
    stage.replica(2).log.truncate_to(1, NOW_MS)
    stage.check(2)
    assert stage.rules.cuts == 1
    stage.replica(2).log.truncate_to(0, NOW_MS)
    with pytest.raises(Violation, match="was truncated at 0"):
        stage.check(2, high_watermark=0)


def test_what_a_power_failure_may_take_is_forgotten() -> None:
    stage = Stage().replicated()
    stage.rules.forget(TOPIC_ID, 0, 0)
    assert stage.rules.committed_end(TOPIC_ID, 0) == 0
    stage.replica(2).log.truncate_to(0, NOW_MS)
    stage.append(2, "other", epoch=1)
    stage.check(2, is_leader=True, leader_epoch=1, high_watermark=1)
    assert stage.rules.committed_end(TOPIC_ID, 0) == 1


@pytest.mark.parametrize("ends", [False, True])
def test_a_leader_that_was_replaced_does_not_know_what_is_lost(ends: bool) -> None:
    stage = Stage().replicated()
    stage.append(1, "b")
    stage.rules.image = image_with(leader_epoch=0)
    stage.check(1, high_watermark=2)
    stage.rules.forget(TOPIC_ID, 0, 0)
    stage.check(1)
    assert stage.rules.committed_end(TOPIC_ID, 0) == 2
    stage.rules.forget(TOPIC_ID, 0, 0)
    stage.rules.image = image_with(leader_epoch=1)
    stage.check(1)
    if ends:
        stage.rules.process_ended(stage.nodes[0])
    assert stage.rules.committed_end(TOPIC_ID, 0) == 0
    stage.replica(2).log.truncate_to(0, NOW_MS)
    stage.check(2, is_leader=True, leader_epoch=1, high_watermark=0)
    if not ends:
        stage.replica(1).log.truncate_to(0, NOW_MS)
        stage.check(1, is_leader=False, leader_epoch=1, high_watermark=0)


def test_a_copy_may_replace_a_log_before_its_node_hears_of_a_loss() -> None:
    stage = Stage().replicated()
    stage.rules.forget(TOPIC_ID, 0, 0)
    stage.replica(1).log.truncate_to(0, NOW_MS)
    stage.append(1, "other", epoch=1)
    stage.check(1, is_leader=True, leader_epoch=1, high_watermark=1)
    stage.check(2, leader_epoch=1)
    copy = open_orders(memory_disk())
    append(copy, b"a", epoch=0)
    stage.check(2, log=copy)
    append(copy, b"b", epoch=1)
    with pytest.raises(Violation, match="committed is"):
        stage.check(2)


def test_retention_of_a_replica_that_has_not_heard_of_a_loss_proves_nothing() -> None:
    stage = Stage().replicated()
    stage.rules.forget(TOPIC_ID, 0, 0)
    stage.replica(1).log.truncate_to(0, NOW_MS)
    stage.append(1, "other", epoch=1)
    stage.check(1, is_leader=True, leader_epoch=1, high_watermark=1)
    stage.check(2)
    stage.replica(2).log.advance_log_start_offset(1)
    stage.check(2)
    stage.replica(2).log.truncate_fully_and_start_at(0, NOW_MS)
    stage.check(2, high_watermark=0)
    assert stage.rules.cuts == 1


def test_without_a_loss_the_word_of_a_leader_that_was_replaced_counts() -> None:
    stage = Stage().replicated()
    stage.rules.image = image_with(leader_epoch=1)
    stage.append(1, "b")
    stage.check(1, high_watermark=2)
    with pytest.raises(Violation, match="ends at 1; committed is 2"):
        stage.check(2, is_leader=True, leader_epoch=1)


def test_offsets_out_of_order() -> None:
    stage = Stage().replicated()
    with pytest.raises(Violation, match="start 0, high watermark 5, end 1"):
        stage.check(1, high_watermark=5)


class PlayedLog:
    """What a view needs of a log."""

    def __init__(self) -> None:
        self.local = SimpleNamespace(
            is_offline=False, config=None, log_start_offset=0, log_end_offset=0
        )
        self.queue = SimpleNamespace(next_offset=0)


CHANGES = {
    "starts": 2,
    "has_failed": True,
    "partition.hosted": False,
    "partition.leader_epoch": 1,
    "partition.is_leader": True,
    "partition.high_watermark": 1,
    "partition.replicas": (1,),
    "partition.isr": IsrState(frozenset((1,))),
    "partition.log": PlayedLog(),
    "partition.log.local.is_offline": True,
    "partition.log.local.config": TopicConfig.default(min_insync_replicas="2"),
    "partition.log.local.log_start_offset": 1,
    "partition.log.local.log_end_offset": 1,
    "partition.log.queue.next_offset": 1,
}


@pytest.mark.parametrize("path", CHANGES)
def test_a_replica_is_looked_at_after_each_change(path: str) -> None:
    stage = Stage()
    node, seen = stage.nodes[0], []
    node.partition.log = PlayedLog()
    stage.rules._look_at = lambda node, partition: seen.append(partition)  # type: ignore[method-assign]
    stage.check(1)
    stage.check(1)
    assert seen == [node.partition]
    *owner, name = path.split(".")
    setattr(attrgetter(".".join(owner))(node) if owner else node, name, CHANGES[path])
    stage.check(1)
    assert seen == [node.partition] * 2


def test_only_the_replica_that_changed_is_looked_at() -> None:
    stage = Stage()
    node = stage.nodes[0]
    hosted = [copy(node.partition) for _ in range(3)]
    node.server.replica_manager.partitions = lambda: hosted
    seen: list[Any] = []
    stage.rules._look_at = lambda node, partition: seen.append(partition)  # type: ignore[method-assign]
    stage.check(1)
    hosted[1].high_watermark = 1
    stage.check(1)
    assert [each is hosted[1] for each in seen[3:]] == [True]
    del hosted[1]
    stage.check(1)
    assert len(seen) == 3 + 1 + 2


def image_with(isr: tuple[int, ...] = (), elr: tuple[int, ...] = (), leader_epoch: int = 0) -> Any:
    partition = SimpleNamespace(isr=isr, elr=elr, leader_epoch=leader_epoch)
    topic = SimpleNamespace(partitions={0: partition})
    return SimpleNamespace(topics_by_id={TOPIC_ID: topic})


def test_who_is_in_sync_or_eligible_has_all_that_is_committed() -> None:
    stage = Stage().replicated()
    stage.append(1, "b")
    stage.check(1, high_watermark=2)
    stage.rules.image = image_with(isr=(1,))
    stage.check(1)
    for image in (image_with(isr=(1, 2)), image_with(isr=(1,), elr=(2,))):
        stage.rules.image = image
        with pytest.raises(Violation, match="in sync or eligible, and ends at 1; committed is 2"):
            stage.check(1)
    stage.nodes[1].state = NodeState.STARTING
    stage.rules.image = image_with(isr=(1, 2))
    stage.check(1)


def test_a_leader_that_takes_records_with_too_few_in_sync() -> None:
    stage = Stage()
    log = stage.replica(1).log
    log.update_config(TopicConfig.default(min_insync_replicas="2"))
    log.append_as_leader(batch_of(b"a", producer=(7, 0, 0)), 0, NOW_MS)
    log.write_pending()
    stage.check(1, is_leader=True, high_watermark=1)
    stage.check(1, isr=IsrState(frozenset((1,))))
    stage.append(1, "with acks=1")
    stage.check(1)
    log.append_as_leader(batch_of(b"b", producer=(7, 0, 1)), 0, NOW_MS)
    log.write_pending()
    with pytest.raises(Violation, match="took 2 of producer 7 with 1 in sync"):
        stage.check(1)


def test_a_follower_that_does_not_flush_every_record() -> None:
    stage = Stage().replicated()
    flushing, usual = TopicConfig.default(flush_messages="1"), TopicConfig.default()
    log = stage.replica(2).log
    log.update_config(flushing)
    stage.append(2, "b")
    stage.check(2)
    log.update_config(usual)
    stage.append(2, "c")
    log.update_config(flushing)
    with pytest.raises(Violation, match="took up to 3 and flushed up to 2"):
        stage.check(2)
