"""The timer of the ISR check: how often it looks, and that closing ends it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.replication.isr_check_driver import IsrCheckDriver
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.kraft.node_world import ManualScheduler


def checked(next_deadline_ms: int | None, duration_ms: int) -> list[int]:
    """When a manager with this deadline is asked to look, within the duration."""
    scheduler = ManualScheduler(0, MemoryFiles())
    looks: list[int] = []
    manager: Any = SimpleNamespace(advance=looks.append, next_deadline_ms=lambda: next_deadline_ms)
    driver = IsrCheckDriver(manager, scheduler, lambda: scheduler.now_ms, lag_max_ms=1000)
    driver.start()
    scheduler.advance(duration_ms)
    driver.close()
    scheduler.advance(10_000)
    return looks


def test_it_looks_every_half_of_the_lag() -> None:
    assert checked(None, 1999) == [500, 1000, 1500]


def test_it_looks_when_a_partition_is_due_before() -> None:
    assert checked(700, 699) == [500]
    assert checked(700, 700) == [500, 700]


def test_closed_before_its_start_it_does_nothing() -> None:
    scheduler = ManualScheduler(0, MemoryFiles())
    manager: Any = SimpleNamespace()
    IsrCheckDriver(manager, scheduler, lambda: 0, lag_max_ms=1000).close()
    assert scheduler.timers == []
