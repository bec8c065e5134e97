"""Following the metadata image: which logs are made, kept, dropped, set aside; over restarts."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.kraft.partition_image import LOST_DIRECTORY, UNASSIGNED_DIRECTORY
from pykbroker.kraft.publisher import delta_of_all
from pykbroker.log.directories.checkpoints import MetaProperties
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.types import TopicPartition
from tests.harness.records import partition_record
from tests.replication.node import NODE_ID, Node, batch, topic_id_of


def directories(node: Node) -> set[str]:
    """Partition directories, the suffix of those set aside cut to `-delete` or `-stray`."""
    return {
        f"{name.split('.')[0]}-{name.rsplit('-', 1)[1]}" if "." in name else name
        for name in node.files.listdir(node.config.log_directories[0])
        if node.files.is_dir(f"{node.config.log_directories[0]}/{name}")
    }


def changed(**fields: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=0, **fields)


def test_the_high_watermark_of_a_lone_replica_is_its_log_end_after_a_restart() -> None:
    for cleanly in (True, False):
        node = Node()
        node.append(node.create_topic(), b"a", b"b")
        node.restart(cleanly)
        partition = node.manager.find("t", 0)
        assert partition is not None
        assert (partition.log.log_end_offset, partition.high_watermark) == (2, 2)
        assert node.append(partition, b"c") == 2


def test_a_follower_starts_from_the_checkpointed_high_watermark() -> None:
    node = Node()
    node.append(node.create_topic(), b"a", b"b")
    node.apply(changed(replicas=[NODE_ID, 2], isr=[2], leader=2))
    node.restart()
    partition = node.manager.find("t", 0)
    assert partition is not None
    assert (partition.is_leader, partition.leader, partition.high_watermark) == (False, 2, 2)


def test_a_log_that_no_image_knows_is_set_aside_at_the_start() -> None:
    node = Node()
    node.create_topic(number=7)
    node.create_topic("kept", number=8)
    assert directories(node) == {"t-0", "kept-0"}
    node.image.topics_by_name = {"kept": node.image.topics_by_name["kept"]}
    node.image.topics_by_id = {at.id: at for at in node.image.topics_by_name.values()}
    node.restart()
    assert directories(node) == {"kept-0", "t-0-stray"}
    assert node.manager.find("t", 0) is None


def test_a_log_of_an_older_topic_of_that_name_is_set_aside_at_the_start() -> None:
    node = Node()
    node.append(node.create_topic(number=7), b"old")
    new = node.image.topics_by_id[topic_id_of(7)]._replace(id=topic_id_of(8))
    node.image.topics_by_id = {new.id: new}
    node.image.topics_by_name = {"t": new}
    node.restart()
    partition = node.manager.find("t", 0)
    assert partition is not None
    assert (partition.topic_id, partition.log.log_end_offset) == (new.id, 0)
    assert directories(node) == {"t-0", "t-0-stray"}


def moving(node: Node) -> tuple[PartitionLog, PartitionLog]:
    """A log of two directories that is being moved to the other one, and its copy."""
    log = node.create_topic().log
    target = "/two" if log.log_directory == "/one" else "/one"
    return log, node.log_manager.moves.create_copy(log.topic_partition, target)


@pytest.mark.parametrize("is_log_lost", [False, True])
def test_a_copy_that_does_not_belong_to_this_node_is_set_aside_at_the_start(
    is_log_lost: bool,
) -> None:
    """Otherwise its move would never end, whether the log is still there or not."""
    node = Node({"log.dirs": "/one,/two"})
    log, copy = moving(node)
    node.log_manager.shutdown(node.now_ms)
    if is_log_lost:  # it is set aside for its own sake: it does not know its topic
        node.files.write_file(f"{log.directory}/partition.metadata", b"")
    node.image.topics_by_name, node.image.topics_by_id = {}, {}
    node.open()
    node.manager.apply(delta_of_all(node.image), node.image, node.now_ms)
    assert node.log_manager.future_partitions() == []
    assert list(node.log_manager.logs()) == []
    for path in (log.log_directory, copy.log_directory):
        (name,) = (each for each in node.files.listdir(path) if each.startswith("t-0"))
        assert name.endswith("-stray")


def test_the_copy_of_a_log_whose_directory_failed_is_deleted_with_its_topic() -> None:
    node = Node({"log.dirs": "/one,/two"})
    log, copy = moving(node)
    failure = LogDirFailure(log.log_directory, "reading", OSError(5, "broken"))
    node.manager.on_directory_failure(failure)
    node.delete_topic()
    assert node.log_manager.future_partitions() == []
    (name,) = (each for each in node.files.listdir(copy.log_directory) if each.startswith("t-0"))
    assert name.endswith("-delete")


def test_the_high_watermark_is_not_before_the_start_of_a_copy() -> None:
    """After a power failure the high watermark may be 0, and the copy begin at the log's start."""
    node = Node({"log.dirs": "/one,/two"})
    log, copy = moving(node)
    partition = node.manager.partition(log.topic_partition)
    copy.truncate_fully_and_start_at(25, node.now_ms)
    node.log_manager.moves.promote(log.topic_partition)
    assert partition.log is copy
    assert (partition.high_watermark, copy.log_start_offset) == (25, 25)


def test_a_deleted_topics_log_is_renamed_at_once() -> None:
    node = Node()
    node.create_topic(partitions=2)
    node.delete_topic()
    assert directories(node) == {"t-0-delete", "t-1-delete"}
    assert node.manager.hosting.by_name == {}


def test_a_topic_that_is_deleted_and_made_again_in_one_delta() -> None:
    from pykbroker.protocol.messages.remove_topic_record import RemoveTopicRecord

    node = Node()
    old = node.create_topic(number=7)
    node.apply(
        RemoveTopicRecord(topic_id=topic_id_of(7)),
        TopicRecord(name="t", topic_id=topic_id_of(8)),
        partition_record(topic_id_of(8)),
    )
    new = node.manager.find("t", 0)
    assert new is not None
    assert (old.hosted, new.hosted, new.topic_id) == (False, True, topic_id_of(8))
    assert directories(node) == {"t-0", "t-0-delete"}


def test_a_replica_that_moves_away_is_dropped() -> None:
    node = Node()
    partition = node.create_topic()
    node.apply(changed(replicas=[2], isr=[2], leader=2))
    assert (node.manager.find("t", 0), partition.hosted) == (None, False)
    assert node.manager.lookup("t", 0) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert directories(node) == {"t-0-delete"}


def test_new_partitions_of_a_topic_join_the_old_ones() -> None:
    node = Node()
    first = node.create_topic()
    node.append(first, b"a")
    node.apply(partition_record(topic_id_of(7), 1))
    assert node.manager.find("t", 0) is first
    assert first.log.log_end_offset == 1
    assert sorted(node.manager.hosting.by_name["t"]) == [0, 1]


@pytest.mark.parametrize("call", ["open", "mkdir"])
def test_a_directory_that_fails_leaves_the_other_one_alone(
    call: str, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node({"log.dirs": "/one,/two"})
    node.create_topic("before", partitions=2, number=9)  # one in each
    node.files.fail = lambda name, path: (
        OSError(5, "broken") if name == call and path.startswith("/one/") else None
    )
    node.apply(
        TopicRecord(name="t", topic_id=topic_id_of(7)),
        *(partition_record(topic_id_of(7), p) for p in range(3)),
    )
    found = [node.manager.lookup("t", p) for p in range(3)]
    assert [p.log.log_directory for p in found if not isinstance(p, int)] == ["/two"] * 3
    others = [node.manager.lookup("before", p) for p in range(2)]
    assert others.count(int(ErrorCode.KAFKA_STORAGE_ERROR)) == 1
    assert "all log directories have failed" not in caplog.text


def test_a_dead_disk_does_not_keep_a_new_log_from_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing can be read there, but the log left nothing behind, not even its directory."""

    node = Node({"log.dirs": "/one,/two"})
    node.create_topic("before", partitions=2, number=9)  # one in each
    sizes = node.files.list_sizes

    def list_sizes(path: str) -> dict[str, int]:
        if path.startswith("/one"):
            raise OSError(5, "broken")
        return sizes(path)

    node.files.fail = lambda call, path: OSError(5, "broken") if path.startswith("/one") else None
    monkeypatch.setattr(node.files, "list_sizes", list_sizes)
    node.apply(TopicRecord(name="t", topic_id=topic_id_of(7)), partition_record(topic_id_of(7)))
    assert node.manager.partition(TopicPartition("t", 0)).log.log_directory == "/two"


@pytest.mark.parametrize("is_assigned", [True, False])
@pytest.mark.parametrize("is_dead", [True, False])
def test_a_disk_from_which_a_log_was_just_deleted_keeps_no_new_log_from_another_one(
    is_assigned: bool, is_dead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is synced before the new log is created. Only the disk that cannot be is offline then."""
    node = Node({"log.dirs": "/one,/two"})
    one, two = node.log_manager.directories
    one.meta, two.meta = (MetaProperties("cluster", NODE_ID, bytes(15) + at) for at in (b"1", b"2"))
    record = partition_record(topic_id_of(7), directories=[one.directory_id])
    node.apply(TopicRecord(name="t", topic_id=topic_id_of(7)), record)
    node.delete_topic()
    record = partition_record(topic_id_of(9), directories=[one.directory_id])
    node.apply(TopicRecord(name="before", topic_id=topic_id_of(9)), record)
    sizes = node.files.list_sizes

    def list_sizes(path: str) -> dict[str, int]:
        if is_dead and path.startswith("/one"):
            raise OSError(5, "broken")
        return sizes(path)

    node.files.fail = lambda call, path: (
        OSError(5, "broken") if path.startswith("/one") and (is_dead or call == "sync") else None
    )
    monkeypatch.setattr(node.files, "list_sizes", list_sizes)
    chosen = two.directory_id if is_assigned else UNASSIGNED_DIRECTORY
    record = partition_record(topic_id_of(8), directories=[chosen])
    node.apply(TopicRecord(name="t", topic_id=topic_id_of(8)), record)
    assert node.manager.partition(TopicPartition("t", 0)).log.log_directory == "/two"
    assert not one.is_online


def test_a_leader_whose_epoch_cannot_be_written_takes_only_its_directory_offline() -> None:
    node = Node({"log.dirs": "/one,/two"})
    node.create_topic(partitions=4, replicas=(NODE_ID, 2), leader=2)  # two in each
    node.files.fail = lambda call, path: OSError(5, "broken") if path.startswith("/one/") else None
    node.apply(
        *(
            PartitionChangeRecord(topic_id=topic_id_of(7), partition_id=p, leader=NODE_ID)
            for p in range(4)
        )
    )
    found = [node.manager.lookup("t", p) for p in range(4)]
    assert found.count(int(ErrorCode.KAFKA_STORAGE_ERROR)) == 2
    online = [p for p in found if not isinstance(p, int)]
    assert [(p.log.log_directory, p.is_leader) for p in online] == [("/two", True)] * 2


def test_a_log_that_cannot_be_set_aside_takes_only_its_directory_offline() -> None:
    node = Node({"log.dirs": "/one,/two"})
    node.create_topic(number=7)
    node.create_topic("kept", partitions=2, number=8)  # one of them in the directory of the other
    partition = node.manager.partition(TopicPartition("t", 0))
    home = partition.log.log_directory
    node.log_manager.shutdown(node.now_ms)
    kept = node.image.topics_by_name["kept"]
    node.image.topics_by_name, node.image.topics_by_id = {"kept": kept}, {kept.id: kept}
    node.open()
    node.files.fail = lambda call, path: (
        OSError(5, "broken") if call == "rename" and path.startswith(home) else None
    )
    node.manager.apply(delta_of_all(node.image), node.image, node.now_ms)
    assert [each.path for each in node.log_manager.directories if not each.is_online] == [home]
    found = [node.manager.lookup("kept", p) for p in range(2)]
    online = [p for p in found if not isinstance(p, int)]
    assert len(online) == found.count(int(ErrorCode.KAFKA_STORAGE_ERROR)) == 1
    assert online[0].log.log_directory != home


@pytest.mark.parametrize("can_be_removed", [True, False])
def test_a_log_that_cannot_be_completed_leaves_no_duplicate_behind(can_be_removed: bool) -> None:
    """The disk is full, say. The next start would refuse two directories of one partition."""
    node = Node({"log.dirs": "/one,/two"})
    node.create_topic("before", partitions=2, number=9)  # one in each
    calls = ("write",) if can_be_removed else ("write", "unlink")
    node.files.fail = lambda call, path: (
        OSError(28, "no space left") if call in calls and path.startswith("/one/t-") else None
    )
    placed: dict[tuple[bytes, int], bytes] = {}
    node.manager._on_placed = placed.update
    node.apply(
        TopicRecord(name="t", topic_id=topic_id_of(7)),
        partition_record(topic_id_of(7), directories=[UNASSIGNED_DIRECTORY]),
    )
    found = node.manager.lookup("t", 0)
    if can_be_removed:
        assert not isinstance(found, int)
        assert found.log.log_directory == "/two"
    else:
        assert found == ErrorCode.KAFKA_STORAGE_ERROR
        assert placed == {(topic_id_of(7), 0): LOST_DIRECTORY}
    node.files.fail = None
    node.restart()
    partition = node.manager.partition(TopicPartition("t", 0))
    assert partition.log.log_directory == ("/two" if can_be_removed else "/one")


def test_a_log_in_a_directory_that_is_offline_from_the_start_is_made_nowhere_else() -> None:
    node = Node({"log.dirs": "/a,/b"})
    partition = node.create_topic()
    node.append(partition, b"kept")
    home = partition.log.log_directory
    node.log_manager.shutdown(node.now_ms)
    node.files.fail = lambda call, path: (
        OSError(5, "the disk is broken") if path.startswith(home) else None
    )
    node.open()
    node.manager.apply(delta_of_all(node.image), node.image, node.now_ms)
    assert node.manager.lookup("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR
    node.apply(changed(leader=-1))
    node.apply(changed(leader=NODE_ID))
    assert node.manager.lookup("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR
    node.delete_topic()
    again = node.create_topic(number=8)
    assert again.log.log_directory != home


def told_after_losing(node: Node, directory: str) -> dict[tuple[bytes, int], bytes]:
    """Restart a node after a log directory has failed; return what it tells the controller."""
    node.log_manager.shutdown(node.now_ms)
    node.files.fail = lambda call, path: (
        OSError(5, "the disk is broken") if path.startswith(directory) else None
    )
    node.open()
    placed: dict[tuple[bytes, int], bytes] = {}
    node.manager._on_placed = placed.update
    node.manager.apply(delta_of_all(node.image), node.image, node.now_ms)
    return placed


@pytest.mark.parametrize(
    ("assigned", "told"), [(UNASSIGNED_DIRECTORY, LOST_DIRECTORY), (b"a" * 16, None)]
)
def test_the_controller_learns_that_an_unassigned_replica_is_offline(
    assigned: bytes, told: bytes | None
) -> None:
    node = Node({"log.dirs": "/a,/b"})
    partition = node.create_topic()
    home = partition.log.log_directory
    node.apply(changed(directories=[assigned]))
    placed = told_after_losing(node, home)
    assert placed.get((partition.topic_id, 0)) == told


def test_a_leader_keeps_an_epoch_without_records_when_its_log_moves() -> None:
    """A consumer at the log end asks for this epoch; if it is unknown, its position is reset."""
    node = Node({"log.dirs": "/a,/b"})
    partition = node.create_topic()
    node.append(partition, b"a")
    node.apply(changed(leader=-1))
    node.apply(changed(leader=NODE_ID))
    epoch = partition.leader_epoch
    old = partition.log
    away = next(each for each in node.log_manager.directories if each.path != old.log_directory)
    copy = node.log_manager.moves.create_copy(partition.topic_partition, away.path)
    outcome = old.read(0, 1 << 20, old.log_end_offset)
    assert outcome.slice is not None
    copy.append_as_follower(outcome.slice.read(), node.now_ms)
    copy.write_pending()
    assert old.leader_epochs.latest_epoch == epoch != copy.leader_epochs.latest_epoch
    node.log_manager.moves.promote(partition.topic_partition)
    assert partition.log is copy
    assert partition.end_offset_for_epoch(epoch, epoch) == (0, epoch, 1)


def test_the_controller_learns_that_a_moved_replica_is_offline() -> None:
    """It believes that the replica is where it was before its log was moved."""
    node = Node({"log.dirs": "/a,/b"})
    partition = node.create_topic()
    home = partition.log.log_directory
    before = next(each for each in node.log_manager.directories if each.path != home)
    node.apply(changed(directories=[before.directory_id]))
    placed = told_after_losing(node, home)
    assert placed == {(partition.topic_id, 0): LOST_DIRECTORY}


def test_the_controller_learns_where_a_replica_stayed_that_was_moved_away_and_back() -> None:
    """Both reassignments came in one delta. Else its failed directory would not end its lead."""
    node = Node({"log.dirs": "/a,/b"})
    for each in node.log_manager.directories:
        each.meta = MetaProperties("cluster", NODE_ID, each.path.encode() * 8)
    partition = node.create_topic()
    home = partition.log.log_directory.encode() * 8
    placed: dict[tuple[bytes, int], bytes] = {}
    node.manager._on_placed = placed.update
    node.apply(changed(directories=[home]))
    assert placed == {}
    node.apply(
        changed(replicas=[2], isr=[2], leader=2, directories=[UNASSIGNED_DIRECTORY]),
        changed(replicas=[NODE_ID, 2], directories=[UNASSIGNED_DIRECTORY] * 2),
    )
    assert node.manager.find("t", 0) is partition
    assert placed == {(partition.topic_id, 0): home}


def test_a_log_whose_topic_cannot_be_told_is_offline_and_kept() -> None:
    node = Node()
    node.append(node.create_topic(), b"kept")
    node.append(node.create_topic("other", number=8), b"served")
    directory = f"{node.config.log_directories[0]}/t-0"
    node.log_manager.shutdown(node.now_ms)
    node.files.write_file(f"{directory}/partition.metadata", b"garbage")
    node.open()
    node.manager.apply(delta_of_all(node.image), node.image, node.now_ms)
    assert node.manager.lookup("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR
    assert not isinstance(node.manager.lookup("other", 0), int)
    assert node.files.size(f"{directory}/00000000000000000000.log") > 0
    node.apply(changed(leader=-1))
    assert node.manager.lookup("t", 0) == ErrorCode.KAFKA_STORAGE_ERROR


def test_the_last_directory_that_fails_is_told(caplog: pytest.LogCaptureFixture) -> None:
    node = Node()
    partition = node.create_topic()
    node.manager.append(partition, batch(), 1, node.now_ms)
    node.fail_writes()
    node.end_turn()
    assert caplog.text.count("all log directories have failed") == 1


def test_topics_follow_the_brokers_defaults() -> None:
    node = Node()
    partition = node.create_topic()
    config = node.config.with_dynamic({"log.retention.ms": "12345"}, {})
    node.manager.on_broker_config(config)
    assert partition.log.config.retention_ms == 12345


def test_a_copy_on_its_way_to_another_directory_follows_the_configuration() -> None:
    """Else the old one would rule after the move."""
    node = Node({"log.dirs": "/a,/b"})
    partition = node.create_topic()
    elsewhere = {"/a": "/b", "/b": "/a"}[partition.log.log_directory]
    copy = node.log_manager.moves.create_copy(partition.topic_partition, elsewhere)
    config = node.config.with_dynamic({"log.retention.ms": "12345"}, {})
    node.manager.on_broker_config(config)
    assert copy.config.retention_ms == 12345
