"""All the logs of a node over its log directories."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.log.directories.checkpoints import MetaProperties
from pykbroker.log.directories.log_directory import DirectoryRefused, PartitionUnidentified
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, NothingUnsynced, append

ORDERS = [TopicPartition("orders", number) for number in range(4)]
TOPIC_ID = b"0123456789abcdef"


def make_manager(files: Files, *directories: str) -> LogManager:
    paths = directories or ("/a",)
    properties = standalone_properties(paths[0]) | {"log.dirs": ",".join(paths)}
    return LogManager(
        paths,
        BrokerConfig.from_properties(properties),
        files,
        topic_config=lambda topic: TopicConfig.default(),
    )


def loaded(files: MemoryFiles, *directories: str) -> LogManager:
    manager = make_manager(files, *directories)
    manager.load(NOW_MS)
    return manager


@pytest.fixture
def files() -> MemoryFiles:
    return MemoryFiles()


def failing(directory: str) -> Callable[[str, str], OSError | None]:
    return lambda name, path: OSError(errno.EIO, "bad") if path.startswith(directory) else None


def test_create_stop_and_load_again(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    append(log, b"b")
    manager.shutdown(NOW_MS, broker_epoch=17)
    assert files.read_file("/a/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":17}'
    assert files.read_file("/a/recovery-point-offset-checkpoint") == b"0\n1\norders 0 2\n"
    assert files.read_file("/a/log-start-offset-checkpoint") == b"0\n0\n"
    again = loaded(files)
    assert not files.exists("/a/.kafka_cleanshutdown")
    (directory,) = again.directories
    assert directory.was_clean
    found = again.get(ORDERS[0])
    assert found is not None
    assert (found.topic_id, found.log_end_offset, found.recovery_point) == (TOPIC_ID, 2, 2)
    assert list(again.logs()) == [found]


def test_a_kill_is_no_clean_stop(files: MemoryFiles) -> None:
    manager = loaded(files)
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()), b"a")
    files.kill()
    again = loaded(files)
    assert not again.directories[0].was_clean
    found = again.get(ORDERS[0])
    assert found is not None
    assert (found.log_end_offset, found.recovery_point) == (1, 0)


def test_making_a_partition_syncs_nothing(files: MemoryFiles) -> None:
    manager = loaded(files)
    syncs: list[str] = []
    files.fail = lambda name, path: syncs.append(path) if name == "sync" else None
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    assert syncs == []
    log.flush()
    assert {"/a", "/a/orders-0", "/a/orders-0/partition.metadata"} <= set(syncs)


def test_directories_are_locked(files: MemoryFiles) -> None:
    manager = loaded(files)
    with pytest.raises(DirectoryRefused, match="Failed to acquire lock on file"):
        loaded(files)
    manager.shutdown(NOW_MS)
    loaded(files)


def test_whose_directory_it_is(files: MemoryFiles) -> None:
    manager = loaded(files)
    (directory,) = manager.directories
    assert directory.directory_id is None
    meta = MetaProperties("cluster", 1, TOPIC_ID)
    files.write_file("/a/meta.properties", meta.to_bytes(NOW_MS))
    manager.shutdown(NOW_MS)
    again = loaded(files)
    assert again.directories[0].directory_id == TOPIC_ID
    assert again.directory_by_id(TOPIC_ID) is again.directories[0]
    assert again.directory_by_id(b"x" * 16) is None
    again.unlock()
    files.write_file("/a/meta.properties", b"version=1\nnode.id=x\n")
    with pytest.raises(DirectoryRefused, match=r"/a/meta.properties, line 2"):
        loaded(files)
    assert files.lock("/a/.lock") is not None


def test_new_logs_go_where_the_fewest_are(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    homes = [manager.create(tp, TOPIC_ID, TopicConfig.default()).log_directory for tp in ORDERS]
    assert homes == ["/a", "/b", "/a", "/b"]


def test_deleting(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    manager.delete(ORDERS[0])
    assert manager.get(ORDERS[0]) is None
    (name,) = [n for n in files.listdir("/a") if n.endswith("-delete")]
    assert not files.exists("/a/orders-0")
    recreated = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    assert recreated.log_end_offset == 0
    assert manager.chores.due_deletions(NOW_MS) == []
    (deletion,) = manager.chores.due_deletions(NOW_MS + 60_000)
    assert deletion == ((f"/a/{name}",), True)
    files.kill()
    again = loaded(files)
    assert again.chores.pending_deletions == 1
    assert [log.directory for log in again.logs()] == ["/a/orders-0"]


def test_strays_are_set_aside_and_stay(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    append(log, b"a")
    manager.make_stray(log)
    manager.make_stray(log)  # it is aside already
    (name,) = [n for n in files.listdir("/a") if n.endswith("-stray")]
    manager.shutdown(NOW_MS)
    again = loaded(files)
    assert list(again.logs()) == []
    assert files.is_dir(f"/a/{name}")


def test_foreign_directories_and_the_metadata_log_are_left_alone(files: MemoryFiles) -> None:
    for name in ("lost+found", "notes", "__cluster_metadata-0"):
        files.mkdir(f"/a/{name}")
    assert list(loaded(files).logs()) == []
    assert files.listdir("/a/lost+found") == []


def test_bad_checkpoints_count_as_empty(files: MemoryFiles) -> None:
    manager = loaded(files)
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()), b"a")
    manager.shutdown(NOW_MS)
    files.write_file("/a/recovery-point-offset-checkpoint", b"0\n1\nnonsense\n")
    files.write_file("/a/log-start-offset-checkpoint", b"\xff\xfe")
    files.unlink("/a/.kafka_cleanshutdown")
    found = loaded(files).get(ORDERS[0])
    assert found is not None
    assert found.log_end_offset == 1


def test_high_watermarks_are_kept(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    for tp in ORDERS[:2]:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default()), b"a")
    manager.checkpoint_high_watermarks({ORDERS[0]: 1, ORDERS[1]: 1, ORDERS[2]: 9})
    assert files.read_file("/a/replication-offset-checkpoint") == b"0\n1\norders 0 1\n"
    assert files.read_file("/b/replication-offset-checkpoint") == b"0\n1\norders 1 1\n"
    manager.shutdown(NOW_MS)
    again = loaded(files, "/a", "/b")
    assert [again.checkpointed_high_watermark(tp) for tp in ORDERS[:3]] == [1, 1, 0]


def test_log_start_offsets_are_kept(files: MemoryFiles) -> None:
    manager = loaded(files)
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    for _ in range(3):
        append(log, b"a")
    log.advance_log_start_offset(2)
    manager.shutdown(NOW_MS)
    assert files.read_file("/a/log-start-offset-checkpoint") == b"0\n1\norders 0 2\n"
    found = loaded(files).get(ORDERS[0])
    assert found is not None
    assert found.log_start_offset == 2


def test_one_failing_directory_leaves_the_others(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    logs = [manager.create(tp, TOPIC_ID, TopicConfig.default()) for tp in ORDERS]
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure) as caught:
        append(logs[0], b"x")
    assert caught.value.directory == "/a"
    assert manager.on_dir_failure("/a", caught.value) == [ORDERS[0], ORDERS[2]]
    assert [log.is_offline for log in logs] == [True, False, True, False]
    assert append(logs[1], b"x") == 0
    assert [log.topic_partition for log in manager.logs()] == [ORDERS[1], ORDERS[3]]
    assert (
        manager.create(TopicPartition("new", 0), TOPIC_ID, TopicConfig.default()).log_directory
        == "/b"
    )
    with pytest.raises(LogDirFailure):
        manager.directory("/a")
    offline, online = manager.reports()
    assert (offline.error, offline.total_bytes, offline.logs) == (
        ErrorCode.KAFKA_STORAGE_ERROR,
        -1,
        [],
    )
    assert online.error == 0
    assert sorted(r.topic_partition for r in online.logs) == [("new", 0), ORDERS[1], ORDERS[3]]
    files.fail = None
    manager.shutdown(NOW_MS)
    assert not files.exists("/a/.kafka_cleanshutdown")
    assert files.exists("/b/.kafka_cleanshutdown")


def test_a_directory_that_fails_while_loading(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    for tp in ORDERS:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default()), b"x")
    manager.shutdown(NOW_MS)
    files.fail = failing("/a/orders-2")
    again = loaded(files, "/a", "/b")
    assert [d.is_online for d in again.directories] == [False, True]
    assert [log.topic_partition for log in again.logs()] == [ORDERS[1], ORDERS[3]]


def test_no_log_is_made_for_what_may_be_in_an_offline_directory(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()), b"x")
    manager.shutdown(NOW_MS)
    files.fail = failing("/a/orders-0")
    again = loaded(files, "/a", "/b")
    assert again.get(ORDERS[0]) is None
    with pytest.raises(LogDirFailure, match="/a"):
        again.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), is_new=False)
    assert not files.exists("/b/orders-0")
    assert again.create(ORDERS[1], TOPIC_ID, TopicConfig.default()).log_directory == "/b"


def test_a_log_that_is_gone_is_told(files: MemoryFiles, caplog: pytest.LogCaptureFixture) -> None:
    manager = loaded(files)
    manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    assert caplog.text == ""
    manager.create(ORDERS[1], TOPIC_ID, TopicConfig.default(), is_new=False)
    assert "orders-1 is in no log directory: an empty log is created for it" in caplog.text


def test_no_directory_at_all_is_refused(files: MemoryFiles) -> None:
    files.fail = failing("/a")
    with pytest.raises(DirectoryRefused, match="None of the log directories /a can be used"):
        loaded(files)


def test_a_partition_in_two_directories_is_refused(files: MemoryFiles) -> None:
    files.mkdir("/a/orders-0")
    files.mkdir("/b/orders-0")
    with pytest.raises(DirectoryRefused, match="Duplicate log directories for orders-0"):
        loaded(files, "/a", "/b")


@pytest.mark.parametrize("stale", ["/a", "/b"])
def test_a_log_of_a_deleted_topic_that_was_offline_is_set_aside(
    files: MemoryFiles, stale: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its topic was deleted and made again, in the other directory, while its own had failed."""
    manager = loaded(files, "/a", "/b")
    for directory, topic_id in (("/a", TOPIC_ID), ("/b", b"another topic id")):
        append(manager.create(ORDERS[0], topic_id, TopicConfig.default(), directory), b"a")
        manager._current.clear()
    manager.unlock()
    live = {"/a": "/b", "/b": "/a"}[stale]
    ids = {"/a": TOPIC_ID, "/b": b"another topic id"}
    again = make_manager(files, "/a", "/b")
    again._topic_id = {"orders": ids[live]}.get
    again.load(NOW_MS)
    log = again.get(ORDERS[0])
    assert log is not None
    assert (log.log_directory, log.topic_id, log.log_end_offset) == (live, ids[live], 1)
    (aside,) = [name for name in files.listdir(stale) if name.startswith("orders-0")]
    assert aside.endswith("-stray")
    assert f"{stale}/orders-0 belongs to a deleted topic" in caplog.text


def test_moving_a_partition_to_another_directory(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    for _ in range(3):
        append(log, b"x")
    future = manager.create_future(ORDERS[0], "/b")
    assert manager.future(ORDERS[0]) is future
    report = manager.reports()[1].logs[0]
    assert (report.is_future, report.offset_lag, report.size_bytes) == (True, 3, 0)
    outcome = log.read(0, 1 << 20, 3)
    assert outcome.slice is not None
    future.append_as_follower(outcome.slice.read(), NOW_MS)
    future.write_pending()
    moved = manager.promote_future(ORDERS[0])
    assert manager.get(ORDERS[0]) is moved
    assert manager.future(ORDERS[0]) is None
    assert (moved.directory, moved.log_end_offset, moved.topic_id) == ("/b/orders-0", 3, TOPIC_ID)
    assert [name for name in files.listdir("/a") if name.endswith("-delete")]
    append(moved, b"y")
    manager.shutdown(NOW_MS)
    again = loaded(files, "/a", "/b")
    found = again.get(ORDERS[0])
    assert found is not None
    assert found.log_end_offset == 4


def test_a_future_copy_survives_a_restart_and_can_be_dropped(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.create_future(ORDERS[0], "/b")
    manager.shutdown(NOW_MS)
    again = loaded(files, "/a", "/b")
    future = again.future(ORDERS[0])
    assert future is not None
    assert future.directory.startswith("/b/orders-0.")
    again.drop_future(ORDERS[0])
    assert again.future(ORDERS[0]) is None
    assert again.get(ORDERS[0]) is not None


def test_a_copy_that_was_dropped_does_not_come_back(files: MemoryFiles) -> None:
    """Not even after a power failure: beside the next one it would be a duplicate."""
    for path in ("/a", "/b", "/c"):
        files.mkdir(path)
    manager = loaded(files, "/a", "/b", "/c")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    for path in ("/b", "/c"):
        manager.drop_future(ORDERS[0])
        append(manager.create_future(ORDERS[0], path), b"x")
        files.sync_dir("/")
        files.sync_dir(path)
    files.crash(NothingUnsynced())
    names = [name for path in ("/b", "/c") for name in files.listdir(path)]
    assert [name.rpartition("-")[2] for name in names if name.startswith("orders")] == [
        "delete",
        "future",
    ]


def test_a_stray_log_does_not_come_back(files: MemoryFiles) -> None:
    """Not even after a power failure: a log of its name may be elsewhere by then."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    append(log, b"x")
    for path in ("/", "/a"):
        files.sync_dir(path)
    manager.make_stray(log)
    files.crash(NothingUnsynced())
    (name,) = (name for name in files.listdir("/a") if name.startswith("orders"))
    assert name.endswith("-stray")


def test_a_copy_whose_topic_id_was_never_synced_is_deleted(files: MemoryFiles) -> None:
    """If it replaced the log, the next start could not tell which topic the log belongs to."""
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    copy = manager.create_future(ORDERS[0], "/b")
    files.write_file(f"{copy.directory}/partition.metadata", b"")
    files.kill()
    again = loaded(files, "/a", "/b")
    assert again.future(ORDERS[0]) is None
    assert again.get(ORDERS[0]) is not None
    again.chores.due_deletions(NOW_MS)
    (deletion,) = again.chores.due_deletions(NOW_MS + again.config.log_segment_delete_delay_ms)
    assert deletion.paths == (copy.directory,)


def test_a_log_that_cannot_be_deleted_does_not_keep_its_copy(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    manager.create_future(ORDERS[0], "/b")
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure, match="/a"):
        manager.delete(ORDERS[0])
    assert manager.future(ORDERS[0]) is None
    (name,) = (name for name in files.listdir("/b") if name.startswith("orders"))
    assert name.endswith("-delete")


def test_a_verification_survives_a_move(files: MemoryFiles) -> None:
    """Its guard is presented to the log that has taken the place of the one that issued it."""
    manager = loaded(files, "/a", "/b")
    log = manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    guard = log.producers.start_verification(7, 0, 0, True, NOW_MS)
    assert guard is not None
    manager.create_future(ORDERS[0], "/b")
    moved = manager.promote_future(ORDERS[0])
    assert moved is not log
    moved.producers.verifications.check_guard(7, guard)


def test_a_crash_while_promoting_is_finished_by_the_next_start(files: MemoryFiles) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.create_future(ORDERS[0], "/b")
    files.rename("/a/orders-0", f"/a/orders-0.{'1' * 32}-delete")
    files.kill()
    again = loaded(files, "/a", "/b")
    found = again.get(ORDERS[0])
    assert found is not None
    assert found.directory == "/b/orders-0"
    assert again.future(ORDERS[0]) is None


def test_the_copy_of_a_log_that_cannot_be_identified_does_not_replace_it(
    files: MemoryFiles,
) -> None:
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a"), b"x")
    manager.create_future(ORDERS[0], "/b")
    manager.shutdown(NOW_MS)
    files.write_file("/a/orders-0/partition.metadata", b"garbage")
    again = loaded(files, "/a", "/b")
    assert again.get(ORDERS[0]) is None
    with pytest.raises(PartitionUnidentified, match="/a/orders-0"):
        again.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), is_new=False)
    assert again.future(ORDERS[0]) is not None


def test_reports_of_wanted_partitions_only(files: MemoryFiles) -> None:
    manager = loaded(files)
    for tp in ORDERS[:2]:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default()), b"x")
    (report,) = manager.reports(lambda tp: tp == ORDERS[1])
    assert [r.topic_partition for r in report.logs] == [ORDERS[1]]
    assert report.logs[0].size_bytes > 0
    assert 0 < report.usable_bytes <= report.total_bytes


def test_without_an_online_directory_a_new_log_fails_with_what_failed(files: MemoryFiles) -> None:
    manager = loaded(files)
    files.fail = failing("/a")
    with pytest.raises(LogDirFailure) as first:
        manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default())
    manager.on_dir_failure("/a", first.value)
    with pytest.raises(LogDirFailure) as second:
        manager.create(ORDERS[1], TOPIC_ID, TopicConfig.default())
    assert second.value is first.value
