"""Recovery in worker processes: what the pool does, and one real run."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.real.files import RealFiles
from pykbroker.log import directory_loader
from pykbroker.log.log_manager import LogManager
from pykbroker.log.recovery import RecoveryTask, unflushed_bytes
from pykbroker.log.recovery_driver import RecoveryPool, recover_many, serve
from pykbroker.types import TopicPartition
from tests.log.log_makers import DIRECTORY, NOW_MS, append, memory_disk, open_orders
from tests.log.test_log_manager import ORDERS, TOPIC_ID


def task_of(directory: str, size_bytes: int = 0) -> RecoveryTask:
    return RecoveryTask(
        directory, "orders", 3, 0, 0, True, NOW_MS, 1 << 30, 10 << 20, 4096, 86_400_000, size_bytes
    )


def test_a_worker_recovers_and_closes() -> None:
    files = memory_disk()
    log = open_orders(files)
    append(log, b"a")
    append(log, b"b")
    size = log.size_bytes
    log.active.file.pwritev([b"torn"], size)
    answers = io.StringIO()
    lines = io.StringIO(json.dumps(task_of(DIRECTORY)) + "\n" + json.dumps(["bad"]) + "\n")
    serve(files, lines, answers)
    first, second = map(json.loads, answers.getvalue().splitlines())
    assert first == {"end_offset": 2}
    assert "failed" in second
    assert files.size(f"{DIRECTORY}/{0:020d}.log") == size
    assert open_orders(files, is_clean=True, recovery_point=2).log_end_offset == 2


def test_big_logs_come_first_and_failures_are_left_out() -> None:
    pool = RecoveryPool([task_of("/small", 1), task_of("/big", 9), task_of("/middle", 5)])
    first, second = pool.take(), pool.take()
    assert first is not None
    assert second is not None
    assert [first.directory, second.directory] == ["/big", "/middle"]
    pool.finished(first, {"end_offset": 7})
    pool.finished(second, {"failed": "no"})
    assert pool.recovered == {"/big": 7}


def test_unflushed_bytes() -> None:
    files = memory_disk()
    log = open_orders(files, segment_ms="1000")
    for step in range(4):
        append(log, b"x", timestamp=NOW_MS + 600 * step)
    assert log.segments.base_offsets == [0, 2]
    sizes = [segment.size for segment in log.segments]
    assert unflushed_bytes(files, DIRECTORY, 0) == sum(sizes)
    assert unflushed_bytes(files, DIRECTORY, 1) == sum(sizes)
    assert unflushed_bytes(files, DIRECTORY, 3) == sizes[1]


def test_a_killed_node_recovers_its_heavy_logs_in_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_loader, "HEAVY_LOG_BYTES", 1000)
    config = BrokerConfig.from_properties(standalone_properties(str(tmp_path)))
    used: list[str] = []

    def recover(tasks: list[RecoveryTask], workers: int) -> dict[str, int]:
        used.extend(task.directory for task in tasks)
        return dict(recover_many(tasks, workers))

    def manager() -> LogManager:
        made = LogManager(
            [str(tmp_path)],
            config,
            RealFiles(),
            topic_config=lambda topic: TopicConfig.default(),
            recover_many=recover,  # type: ignore[arg-type]
        )
        made.load(NOW_MS)
        return made

    first = manager()
    for tp in ORDERS[:2]:
        log = first.create(tp, TOPIC_ID, TopicConfig.default())
        for _ in range(20):
            append(log, b"v" * 100)
    append(first.create(TopicPartition("light", 0), TOPIC_ID, TopicConfig.default()), b"x")
    first.unlock()

    again = manager()
    assert used == [f"{tmp_path}/orders-0", f"{tmp_path}/orders-1"]
    ends = {str(log.topic_partition): log.log_end_offset for log in again.logs()}
    assert ends == {"orders-0": 20, "orders-1": 20, "light-0": 1}
    points = {str(log.topic_partition): log.recovery_point for log in again.logs()}
    assert points == {"orders-0": 20, "orders-1": 20, "light-0": 0}
    again.unlock()
