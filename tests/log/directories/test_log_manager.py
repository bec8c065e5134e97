"""All the logs of a node over its log directories."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.files import Files, LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.log.directories.checkpoints import PartitionMetadata
from pykbroker.log.directories.log_creation import NothingCreated
from pykbroker.log.directories.log_directory import DirectoryRefused
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS, append

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
    for directory in manager.directories:
        manager.checkpoint_high_watermarks(directory, {ORDERS[0]: 1, ORDERS[1]: 1, ORDERS[2]: 9})
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
        manager.directories.at("/a")
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


def test_a_directory_that_fails_while_an_abandoned_copy_takes_its_place(
    files: MemoryFiles,
) -> None:
    manager = loaded(files, "/a", "/b")
    for tp in ORDERS[:2]:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default(), "/a"), b"x")
        append(manager.moves.create_copy(tp, "/b"), b"x")
        log = manager._current.pop(tp)
        assert log is not None
        log.move_to(f"/a/{tp}.{'0' * 32}-delete")
    manager.shutdown(NOW_MS)
    files.fail = lambda name, path: failing("/b")(name, path) if name == "rename" else None
    again = loaded(files, "/a", "/b")
    assert [d.is_online for d in again.directories] == [True, False]
    assert not again.future_partitions()


def test_a_copy_that_cannot_be_deleted_is_no_failure_of_the_new_log(files: MemoryFiles) -> None:
    """So that the new log is created after all; see Hosting."""
    manager = loaded(files, "/a", "/b", "/c")
    manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/a")
    manager.moves.create_copy(ORDERS[0], "/b")
    manager.on_dir_failure("/a")
    files.fail = failing("/b")
    with pytest.raises(NothingCreated, match="deleting a copy in log directory /b") as raised:
        manager.create(ORDERS[0], b"another id of 16", TopicConfig.default(), "/c")
    manager.on_dir_failure(raised.value.directory)
    log = manager.create(ORDERS[0], b"another id of 16", TopicConfig.default(), "/c")
    assert log.log_directory == "/c"


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


def test_a_partition_in_two_directories_is_refused(files: MemoryFiles) -> None:
    for path in ("/a/orders-0", "/b/orders-0"):
        files.mkdir(path)
        files.write_file(f"{path}/partition.metadata", PartitionMetadata(TOPIC_ID).to_bytes())
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
    manager.directories.unlock()
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


def test_logs_of_two_deleted_topics_do_not_refuse_the_start(files: MemoryFiles) -> None:
    for path, topic_id in (("/a/orders-0", TOPIC_ID), ("/b/orders-0", b"another topic id")):
        files.mkdir(path)
        files.write_file(f"{path}/partition.metadata", PartitionMetadata(topic_id).to_bytes())
    manager = make_manager(files, "/a", "/b")
    no_topics: dict[str, bytes] = {}
    manager._topic_id = no_topics.get
    manager.load(NOW_MS)
    log = manager.get(ORDERS[0])
    assert log is not None
    assert log.log_directory == "/a"
    (aside,) = [name for name in files.listdir("/b") if name.startswith("orders-0")]
    assert aside.endswith("-stray")


def test_reports_of_wanted_partitions_only(files: MemoryFiles) -> None:
    manager = loaded(files)
    for tp in ORDERS[:2]:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default()), b"x")
    (report,) = manager.reports(lambda tp: tp == ORDERS[1])
    assert [r.topic_partition for r in report.logs] == [ORDERS[1]]
    assert report.logs[0].size_bytes > 0
    assert 0 < report.usable_bytes <= report.total_bytes
