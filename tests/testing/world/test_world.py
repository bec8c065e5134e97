"""The loop of a world: invariants, failures, crash points."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.testing.world.memory_files import SimulatedCrash
from pykbroker.testing.world.node import Node, NodeState, add_image_rule, add_rule
from pykbroker.testing.world.one_node import OneNode
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


class Recorder:
    """A rule that records what it is checked with."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def check(self, node: Node, server: Any) -> None:
        self.seen.append(server)

    def check_image(self, node: Node, server: Any, image: Any) -> None:
        self.seen.append(image)


def test_rules_of_a_node_are_checked_after_events_of_its_process() -> None:
    world = World(1)
    node, other = Node(world, 1, {}), Node(world, 2, {})
    rule, image_rule = Recorder(), Recorder()
    add_rule([node], rule)
    add_image_rule([node], image_rule)
    processes = [Process("node-1"), Process("node-2"), None]
    world.running.update(zip(processes, (node, other), strict=False))

    def run_each() -> None:
        for process in processes:
            world.queue.after(1, process, lambda: None)
        world.run_for(1)

    server: Any = SimpleNamespace(image="first")
    node.server, node.state = server, NodeState.STARTING
    run_each()
    assert (rule.seen, image_rule.seen) == ([None], [])
    for node.state in (NodeState.UP, NodeState.STOPPING):
        run_each()
    assert (rule.seen, image_rule.seen) == ([None, server, server], ["first"])
    server.image = "second"
    run_each()
    assert image_rule.seen == ["first", "second"]
    server.image = "third"
    node.has_failed = True
    run_each()
    assert (rule.seen[-1], image_rule.seen) == (None, ["first", "second"])


def test_a_node_is_running_until_it_ends() -> None:
    life = OneNode(3)
    with life.world.logs_captured():
        life.node.start()
        assert life.world.running == {life.node.machine.process: life.node}
        life.world.run_for(1_000_000)
        life.node.kill()
    assert not life.world.running


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
