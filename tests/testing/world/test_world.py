"""The loop of a world: invariants, failures, crash points."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.memory_files import SimulatedCrash
from pykbroker.testing.world.virtual_time import Process
from pykbroker.testing.world.world import Violation, World


class NoMoreThan:
    def __init__(self, most: int) -> None:
        self.count = 0
        self._most = most

    def check(self, world: World) -> None:
        self.count += 1
        if self.count > self._most:
            raise Violation("too many")


def test_invariants_are_checked_after_every_event() -> None:
    world = World(1)
    rule = NoMoreThan(2)
    world.invariants.append(rule)
    for number in range(3):
        world.after(number, lambda: None)
    assert world.step()
    assert world.step()
    with pytest.raises(Violation, match="too many"):
        world.step()
    assert rule.count == 3


def test_a_failure_that_was_reported_ends_the_world() -> None:
    world = World(1)
    world.after(1, world.fail, Violation("first"))
    world.after(2, world.fail, Violation("second"))
    with pytest.raises(Violation, match="first"):
        world.run_for(10)


def test_time_passes_where_nothing_happens() -> None:
    world = World(1)
    seen: list[int] = []
    world.after(50, lambda: seen.append(world.now_us))
    world.run_for(20)
    assert (world.now_us, seen) == (20, [])
    assert world.run_until(lambda: bool(seen), 100)
    assert world.now_us == 50
    assert not world.run_until(lambda: False, 100)
    assert world.now_us == 100


def test_a_crash_point_is_for_the_fault_that_made_it() -> None:
    world = World(1)
    process = Process("p")
    crashed: list[Process] = []

    def crash() -> None:
        raise SimulatedCrash

    world.queue.at(1, process, crash)
    world.on_crash_point = crashed.append
    world.run_for(5)
    assert crashed == [process]
    world.on_crash_point = None
    world.queue.at(6, process, crash)
    with pytest.raises(SimulatedCrash):
        world.run_for(5)


def test_calm_begins_when_the_faults_are_over() -> None:
    world = World(1)
    assert not world.is_calm()
    world.calm_since_us = 10
    assert not world.is_calm()
    world.run_for(15)
    assert world.is_calm(5)
    assert not world.is_calm(6)
