"""Which directories are opened how; which logs go to worker processes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import spawn
from pykbroker.log import directory_loader
from pykbroker.log.chores import Chores
from pykbroker.log.directory_loader import DirectoryLoader, Logs, RecoverMany
from pykbroker.log.log_directory import LogDirectory, PartitionUnidentified
from pykbroker.log.recovery import RecoveryTask, recover_and_close
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import NOW_MS, append
from tests.log.test_log_manager import ORDERS, TOPIC_ID, loaded


def load(files: MemoryFiles, recover_many: RecoverMany | None = None, **overrides: str) -> Logs:
    loader = DirectoryLoader(
        files,
        BrokerConfig.from_properties(standalone_properties("/a")),
        Chores(),
        topic_config=lambda topic: TopicConfig.default(**overrides),
        jitter=None,
        recover_many=recover_many,
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


def test_a_topic_id_that_a_crash_may_have_lost_is_none() -> None:
    files = killed(1)
    files.write_file("/a/orders-0/partition.metadata", b"")
    assert load(files)[ORDERS[0]].topic_id is None


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
