"""Recovery in worker processes: what the pool does, and one real run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.environment.real.files import RealFiles
from pykbroker.environment.real.world import real_environment
from pykbroker.log.directories import directory_loader
from pykbroker.log.directories.directory_loader import Loading
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.log.recovery.opening import RecoveryTask, unflushed_bytes
from pykbroker.log.recovery.recovery_driver import RecoveryPool, recover_many
from pykbroker.types import TopicPartition
from tests.harness.environments import run
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID
from tests.log.log_makers import DIRECTORY, NOW_MS, append, memory_disk, open_orders


def task_of(directory: str, size_bytes: int = 0) -> RecoveryTask:
    return RecoveryTask(
        directory, "orders", 3, 0, 0, True, NOW_MS, 1 << 30, 10 << 20, 4096, 86_400_000, size_bytes
    )


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

    async def recover(tasks: Sequence[RecoveryTask], workers: int) -> Mapping[str, int]:
        used.extend(task.directory for task in tasks)
        environment = real_environment(asyncio.get_running_loop())
        return await recover_many(environment, tasks, workers)

    async def manager() -> LogManager:
        made = LogManager(
            [str(tmp_path)],
            config,
            RealFiles(),
            topic_config=lambda topic: TopicConfig.default(),
            loading=Loading(recover, lambda: None),
        )
        await made.open_logs(NOW_MS)
        return made

    first = run(manager)
    for tp in ORDERS[:2]:
        log = first.create(tp, TOPIC_ID, TopicConfig.default())
        for _ in range(20):
            append(log, b"v" * 100)
    append(first.create(TopicPartition("light", 0), TOPIC_ID, TopicConfig.default()), b"x")
    first.directories.unlock()

    again = run(manager)
    assert used == [f"{tmp_path}/orders-0", f"{tmp_path}/orders-1"]
    ends = {str(log.topic_partition): log.log_end_offset for log in again.logs()}
    assert ends == {"orders-0": 20, "orders-1": 20, "light-0": 1}
    points = {str(log.topic_partition): log.recovery_point for log in again.logs()}
    assert points == {"orders-0": 20, "orders-1": 20, "light-0": 0}
    again.directories.unlock()


def test_a_manager_that_needs_workers_cannot_be_loaded_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_loader, "HEAVY_LOG_BYTES", 0)
    config = BrokerConfig.from_properties(standalone_properties(str(tmp_path)))

    async def recover(tasks: Sequence[RecoveryTask], workers: int) -> Mapping[str, int]:
        await Deferred()
        return {}

    first = LogManager([str(tmp_path)], config, RealFiles())
    first.load(NOW_MS)
    for tp in ORDERS[:2]:
        append(first.create(tp, TOPIC_ID, TopicConfig.default()), b"x")
    first.directories.unlock()
    again = LogManager([str(tmp_path)], config, RealFiles(), loading=Loading(recover, lambda: None))
    with pytest.raises(RuntimeError, match="await open_logs"):
        again.load(NOW_MS)
    again.directories.unlock()
