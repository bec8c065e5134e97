"""A copy that takes the place of a log has all that is in it; a refused start is repaired."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.config import TopicConfig
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.directory_ledger import DirectoryLedger, Replica
from pykbroker.testing.world.directory_rules import DirectoryRules, _batches, _end_of, check_same
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.world import Violation, World
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded
from tests.log.log_makers import NOW_MS, append, batch_of

REFUSED = ValueError(
    "Duplicate log directories for orders-0 are found in both /a/orders-0 and "
    "/b/orders-0: delete the one that failed recently."
)


def log_and_copy(left_out: int | None = None, **config: str) -> tuple[PartitionLog, PartitionLog]:
    """Four records of two epochs, and a copy that lacks one of them."""
    manager = loaded(MemoryFiles(), "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(**config), "/a")
    copy = manager.moves.create_copy(ORDERS[0], "/b")
    for number in range(4):
        append(log, b"%d" % number, epoch=number // 2)
        outcome = log.read(number, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        if number != left_out:
            copy.append_as_follower(outcome.slice.read(), NOW_MS)
            copy.write_pending()
    return log, copy


def test_a_copy_that_is_equal() -> None:
    log, copy = log_and_copy()
    check_same("orders-0", log, copy)
    log.flush()
    copy.flush()
    check_same("orders-0", log, copy)


def cut(log: PartitionLog, copy: PartitionLog) -> None:
    copy.truncate_to(3)


def replace(log: PartitionLog, copy: PartitionLog) -> None:
    copy.truncate_to(3)
    append(copy, b"another", epoch=1)


def forget_epochs(log: PartitionLog, copy: PartitionLog) -> None:
    copy.leader_epochs.truncate_from_end(2)


def flush_only_the_log(log: PartitionLog, copy: PartitionLog) -> None:
    log.flush()


def forget_producer(log: PartitionLog, copy: PartitionLog) -> None:
    for each in (log, copy):
        each.append_as_leader(batch_of(b"5", producer=(7, 0, 0)), 1, NOW_MS)
        each.write_pending()
    copy.producers.remove_expired(1 << 60)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (cut, "has taken the place of"),
        (replace, "has other batches from 3 on"),
        (forget_epochs, "leader epoch 0 ends elsewhere"),
        (flush_only_the_log, "was flushed up to 4, its copy up to 0"),
        (forget_producer, "had producers"),
    ],
)
def test_a_copy_that_is_not(
    spoil: Callable[[PartitionLog, PartitionLog], None], message: str
) -> None:
    log, copy = log_and_copy()
    spoil(log, copy)
    with pytest.raises(Violation, match=message):
        check_same("orders-0", log, copy)


def test_a_copy_without_a_batch_that_was_compacted_begins_its_epoch_later() -> None:
    log, copy = log_and_copy(left_out=2, cleanup_policy="compact")
    assert copy.end_offset_for_epoch(0) != log.end_offset_for_epoch(0)
    check_same("orders-0", log, copy)
    forget_epochs(log, copy)
    with pytest.raises(Violation, match="leader epoch 0 ends elsewhere"):
        check_same("orders-0", log, copy)


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_an_epoch_ends_at_a_batch_that_is_left_or_at_the_end(policy: str) -> None:
    """Batches may also be missing because a power failure took the middle of the log."""
    log, copy = log_and_copy(left_out=2, cleanup_policy=policy)
    left = _batches(copy, 0)
    assert _end_of(0, log, left) == _end_of(0, copy, left) == (0, 3)
    assert _end_of(0, log, left[:2]) == _end_of(0, copy, left[:2]) == (0, 4)


def test_an_operator_deletes_only_the_copy_of_a_move_that_was_interrupted() -> None:
    node = Node(World(1), 1, {"log.dirs": "/a,/b"})
    rules = DirectoryRules([node], DirectoryLedger())
    _, copy = log_and_copy()
    node.machine.files.mkdir("/a/orders-0")
    node.machine.files.mkdir("/b/orders-0")
    assert not node.can_repair(node, REFUSED)
    rules._half_moved[1, "orders-0"] = (copy.log_directory, TOPIC_ID)
    assert not node.can_repair(node, ValueError("the disk is full"))
    assert node.can_repair(node, REFUSED)
    assert node.machine.files.listdir("/b") == []
    assert node.machine.files.listdir("/a") == ["orders-0"]
    rules.ledger.check("orders-0", Replica(1, TOPIC_ID, 0), "/a")


def test_an_operator_deletes_the_log_of_a_replica_that_came_back_to_another_directory() -> None:
    node = Node(World(1), 1, {"log.dirs": "/a,/b"})
    rules = DirectoryRules([node], DirectoryLedger())
    assigned = SimpleNamespace(directory_of=lambda node_id: b"id of b")
    topic = SimpleNamespace(id=TOPIC_ID, partitions={0: assigned})
    image: Any = SimpleNamespace(topic={"orders": topic}.get)
    rules._image = image
    directories = [
        SimpleNamespace(path="/a", directory_id=b"id of a"),
        SimpleNamespace(path="/b", directory_id=b"id of b"),
    ]
    server: Any = SimpleNamespace(log_manager=SimpleNamespace(directories=directories))
    node.server = server
    for directory in ("/a", "/b"):
        node.machine.files.mkdir(f"{directory}/orders-0")
    assert not node.can_repair(node, REFUSED)
    rules._was_absent.add(Replica(1, TOPIC_ID, 0))
    assert node.can_repair(node, REFUSED)
    assert not node.machine.files.exists("/a/orders-0")
    assert node.machine.files.exists("/b/orders-0")


@pytest.mark.parametrize("is_online", [False, True])
def test_a_copy_that_has_become_the_log_is_not_deleted(is_online: bool) -> None:
    """Unless the log is in a directory that is offline."""
    node = Node(World(1), 1, {"log.dirs": "/a,/b"})
    rules = DirectoryRules([node], DirectoryLedger())
    _, copy = log_and_copy()
    rules._half_moved[1, "orders-0"] = (copy.log_directory, TOPIC_ID)
    partition = SimpleNamespace(topic_partition=ORDERS[0], log=copy)
    server: Any = SimpleNamespace(
        log_manager=SimpleNamespace(directories=[SimpleNamespace(is_online=is_online)]),
        replica_manager=SimpleNamespace(partitions=lambda: [partition]),
    )
    node.server = server
    rules.process_ended(node, is_power=False)
    node.machine.files.mkdir("/b/orders-0")
    assert node.can_repair(node, REFUSED) is not is_online
    assert node.machine.files.exists("/b/orders-0") is is_online
