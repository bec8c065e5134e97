"""Which directories are opened how; which logs go to worker processes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred, spawn
from pykbroker.log.directories import directory_loader
from pykbroker.log.directories.checkpoints import PartitionMetadata
from pykbroker.log.directories.chores import Chores
from pykbroker.log.directories.directory_loader import (
    SLICE_NS,
    DirectoryLoader,
    Loading,
    Logs,
    RecoverMany,
)
from pykbroker.log.directories.log_directory import LogDirectory, PartitionUnidentified
from pykbroker.log.recovery.opening import RecoveryTask, recover_and_close
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, loaded, make_manager
from tests.log.log_makers import NOW_MS, NothingUnsynced, append


def load(files: MemoryFiles, recover_many: RecoverMany | None = None, **overrides: str) -> Logs:
    loader = DirectoryLoader(
        files,
        BrokerConfig.from_properties(standalone_properties("/a")),
        Chores(),
        topic_config=lambda topic: TopicConfig.default(**overrides),
        jitter=None,
        loading=None if recover_many is None else Loading(recover_many, lambda: None),
        now_ms=NOW_MS,
    )
    current: Logs = {}
    loading = spawn(loader.load(LogDirectory(files, "/a"), current, {}))
    assert loading.done
    if isinstance(loading.value, BaseException):
        raise loading.value
    return current


def killed(count: int, records: int = 3) -> MemoryFiles:
    """A directory with some logs of a node that was killed."""
    files = MemoryFiles()
    manager = loaded(files)
    for tp in ORDERS[:count]:
        log = manager.create(tp, TOPIC_ID, TopicConfig.default())
        for _ in range(records):
            append(log, b"v" * 100)
    files.kill()
    return files


def test_progress_of_a_recovery_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    files = killed(3)
    with caplog.at_level(logging.INFO):
        logs = load(files)
    assert [log.log_end_offset for log in logs.values()] == [3, 3, 3]
    assert "Recovering 3 logs from /a since no clean shutdown file was found" in caplog.text
    assert "Recovered orders-2 (3/3)" in caplog.text


def test_heavy_logs_go_to_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_loader, "HEAVY_LOG_BYTES", 300)
    files = killed(3)
    seen: list[RecoveryTask] = []

    async def recover(tasks: Sequence[RecoveryTask], workers: int) -> dict[str, int]:
        seen.extend(tasks)
        return {task.directory: recover_and_close(files, task) for task in tasks[1:]}

    logs = load(files, recover)
    assert [task.directory for task in seen] == ["/a/orders-0", "/a/orders-1", "/a/orders-2"]
    assert seen[0].is_contiguous
    # The one that the workers left out was recovered here.
    assert [(log.log_end_offset, log.recovery_point) for log in logs.values()] == [
        (3, 0),
        (3, 3),
        (3, 3),
    ]
    assert {log.local.unsynced_from for log in logs.values()} == {0}


def test_one_heavy_log_is_not_worth_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_loader, "HEAVY_LOG_BYTES", 300)

    async def refuse(tasks: object, workers: int) -> dict[str, int]:
        raise AssertionError("no worker is needed")

    assert len(load(killed(1), refuse)) == 1


def test_gaps_may_be_what_compaction_left_whatever_the_policy_is_now() -> None:
    files = killed(1)
    path = "/a/orders-0/00000000000000000000.log"
    content = files.read_file(path)
    third = len(content) // 3
    files.write_file(path, content[:third] + content[2 * third :])
    assert load(files, cleanup_policy="compact")[ORDERS[0]].log_end_offset == 3
    files.write_file(path, content[:third] + content[2 * third :])
    assert load(files)[ORDERS[0]].log_end_offset == 3


def test_a_log_whose_topic_a_crash_has_lost_is_set_aside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    files = killed(2)
    files.write_file("/a/orders-0/partition.metadata", b"")
    assert list(load(files)) == ORDERS[1:2]
    (aside,) = [name for name in files.listdir("/a") if name.startswith("orders-0")]
    assert aside.endswith("-stray")
    assert f"/a/orders-0 does not tell its topic and was moved to {aside}" in caplog.text
    files.sync_dir("/")
    files.crash(NothingUnsynced())
    assert files.is_dir(f"/a/{aside}")


@pytest.mark.parametrize("torn", [("/a",), ("/b",), ("/a", "/b")])
def test_a_log_whose_topic_is_lost_is_no_duplicate(torn: tuple[str, ...]) -> None:
    """A replica was removed and came back elsewhere, while its directory was offline."""
    files = MemoryFiles()
    manager = loaded(files, "/a", "/b")
    for path in ("/a", "/b"):
        append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), path), b"v")
        manager._current.clear()
    manager.directories.unlock()
    for path in torn:
        files.write_file(f"{path}/orders-0/partition.metadata", b"")
    again = loaded(files, "/a", "/b")
    assert {log.log_directory for log in again.logs()} == {"/a", "/b"} - set(torn)


@pytest.mark.parametrize("content", [b"garbage", b"", None])
def test_records_without_a_topic_id_are_left_where_they_are(
    content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    files = MemoryFiles()
    manager = loaded(files)
    for tp in ORDERS[:2]:
        append(manager.create(tp, TOPIC_ID, TopicConfig.default()), b"v")
    manager.shutdown(NOW_MS)
    name = "/a/orders-0/partition.metadata"
    if content is None:
        files.unlink(name)
    else:
        files.write_file(name, content)
    again = loaded(files)
    assert name in caplog.text
    assert [tp for tp in ORDERS[:2] if again.get(tp) is not None] == ORDERS[1:2]
    with pytest.raises(PartitionUnidentified):
        again.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), is_new=False)
    assert files.size("/a/orders-0/00000000000000000000.log") > 0
    again.create(ORDERS[0], b"another id of 16", TopicConfig.default())
    assert [n for n in files.listdir("/a") if n.endswith("-stray")]
    assert files.size("/a/orders-0/00000000000000000000.log") == 0


def test_a_log_out_of_order_is_left_where_it_is(caplog: pytest.LogCaptureFixture) -> None:
    files = MemoryFiles()
    manager = loaded(files)
    for tp in ORDERS[:2]:
        log = manager.create(tp, TOPIC_ID, TopicConfig.default())
        for _ in range(4):
            append(log, b"v")
        log.advance_log_start_offset(1)
    manager.checkpoint_log_start_offsets(manager.directories[0])
    files.kill()
    path = "/a/orders-0/00000000000000000000.log"
    content = files.read_file(path)
    size = len(content) // 4
    damaged = content[:-size] + content[:size]  # offset 0 comes again
    files.write_file(path, damaged)
    for _ in range(2):  # also when the node was stopped cleanly in between
        caplog.clear()
        again = loaded(files)
        assert (
            f"{path}: the batch at position {3 * size} is intact, but its offsets 0" in caplog.text
        )
        assert "nothing was changed, and the partition is offline" in caplog.text
        assert [tp for tp in ORDERS[:2] if again.get(tp) is not None] == ORDERS[1:2]
        with pytest.raises(PartitionUnidentified):
            again.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), is_new=False)
        assert files.read_file(path) == damaged
        again.shutdown(NOW_MS)
    files.write_file(path, content[:-size])
    healed = loaded(files).get(ORDERS[0])
    assert healed is not None
    assert (healed.log_start_offset, healed.log_end_offset) == (1, 3)


def test_a_copy_is_checked_from_its_start_whatever_an_earlier_log_was_synced_up_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    files = MemoryFiles()
    manager = loaded(files, "/a", "/b")
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default(), "/b"), b"v")
    copy = manager.moves.create_copy(ORDERS[0], "/a")
    append(copy, *[b"v" * 100] * 5)
    files.write_file("/a/recovery-point-offset-checkpoint", b"0\n1\norders 0 5\n")
    files.kill()
    files.write_file(f"{copy.directory}/{0:020}.log", b"no batch")
    again = loaded(files, "/a", "/b").future(ORDERS[0])
    assert again is not None
    assert (again.log_end_offset, again.recovery_point) == (0, 0)
    assert "was synced up to" not in caplog.text


@pytest.mark.parametrize("metadata", [None, b"", b"garbage"])
def test_a_copy_without_a_topic_keeps_no_entries_of_an_earlier_log(
    metadata: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """They would hide the records of the next log: it ends before their log start."""
    files = MemoryFiles()
    copy = f"/a/orders-0.{'1' * 32}-future"
    files.mkdir(copy)
    if metadata is not None:
        files.write_file(f"{copy}/partition.metadata", metadata)
    files.write_file("/a/log-start-offset-checkpoint", b"0\n1\norders 0 21\n")
    manager = loaded(files)
    assert f"{copy} is an unsynced copy: it is deleted" in caplog.text
    assert manager.chores.pending_deletions == 1
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()), b"v")
    files.kill()
    log = load(files)[ORDERS[0]]
    assert (log.log_start_offset, log.log_end_offset) == (0, 1)


def test_a_copy_of_another_topic_does_not_take_the_entries_of_the_log() -> None:
    files = killed(1)
    copy = f"/a/orders-0.{'1' * 32}-future"
    files.mkdir(copy)
    content = PartitionMetadata(b"another id of 16").to_bytes()
    files.write_file(f"{copy}/partition.metadata", content)
    files.write_file("/a/replication-offset-checkpoint", b"0\n1\norders 0 2\n")
    manager = make_manager(files)
    manager._topic_id = lambda topic: TOPIC_ID
    manager.load(NOW_MS)
    assert not files.is_dir(copy)
    assert manager.checkpointed_high_watermark(ORDERS[0]) == 2


def test_the_name_of_a_log_is_synced_again_after_a_crash() -> None:
    """Its recovery point may be that of an earlier log of the partition."""
    files = killed(1)
    files.write_file("/a/recovery-point-offset-checkpoint", b"0\n1\norders 0 2\n")
    log = load(files)[ORDERS[0]]
    syncs: list[str] = []
    files.fail = lambda name, path: syncs.append(path) if name == "sync" else None
    log.flush()
    assert {"/a", "/a/orders-0", "/a/orders-0/partition.metadata"} <= set(syncs)


def test_a_log_that_was_copied_here_unclean_is_checked() -> None:
    """The mark of a clean stop is of the node; what is behind the recovery point was not synced."""
    files = MemoryFiles()
    manager = loaded(files)
    append(manager.create(ORDERS[0], TOPIC_ID, TopicConfig.default()), b"v")
    manager.shutdown(NOW_MS)
    path = "/a/orders-0/00000000000000000000.log"
    whole = files.read_file(path)
    damaged = bytearray(whole)
    damaged[7] = 1
    damaged[-1] ^= 1
    files.write_file(path, whole + damaged)
    log = loaded(files).get(ORDERS[0])
    assert log is not None
    assert log.log_end_offset == 1
    assert files.size(path) == len(whole)


def test_between_two_logs_others_have_a_turn() -> None:
    files = killed(3)
    waiting: list[Deferred] = []

    def rest() -> Deferred:
        waiting.append(Deferred())
        return waiting[-1]

    loader = DirectoryLoader(
        files,
        BrokerConfig.from_properties(standalone_properties("/a")),
        Chores(),
        topic_config=None,
        jitter=None,
        loading=Loading(directory_loader.recover_in_workers(None), rest),  # type: ignore[arg-type]
        now_ms=NOW_MS,
    )
    current: Logs = {}
    loading = spawn(loader.load(LogDirectory(files, "/a"), current, {}))
    for count in (0, 0, 0, 1, 2, 3):  # looked at for workers, then opened
        assert (len(current), loading.done) == (count, False)
        waiting[-1].resolve(None)
    assert (loading.done, loading.value) == (True, None)


def test_a_rest_is_due_when_a_slice_is_used_up() -> None:
    now_ns = 0
    slept: list[Deferred] = []

    def sleep(delay_ms: float) -> Deferred:
        slept.append(Deferred())
        return slept[-1]

    environment: Any = SimpleNamespace(
        clock=SimpleNamespace(monotonic_ns=lambda: now_ns), scheduler=SimpleNamespace(sleep=sleep)
    )
    rest = directory_loader.rest_in_turns(environment)
    assert rest() is None
    now_ns = SLICE_NS
    assert rest() is slept[0]
    assert rest() is None
    now_ns = 2 * SLICE_NS
    assert rest() is slept[1]
