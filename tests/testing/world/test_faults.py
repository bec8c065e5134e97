"""When a world is calm, and how wrong its clocks become."""

from __future__ import annotations

from pykbroker.testing.world.faults import MOST_WRONG_US, Faults
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.world import World


def world_of(*states: NodeState) -> tuple[World, list[Node], Faults]:
    world = World(1)
    nodes = [Node(world, node_id, {}) for node_id, _ in enumerate(states, 1)]
    for node, state in zip(nodes, states, strict=True):
        node.state = state
    return world, nodes, Faults(world, nodes, [])


def test_a_world_is_calm_when_its_faults_are_over() -> None:
    world, _, faults = world_of(NodeState.UP, NodeState.STARTING)
    assert not world.is_calm()
    faults.heal()
    assert world.is_calm()


def test_a_node_that_a_fault_stops_must_serve_again_first() -> None:
    world, nodes, faults = world_of(NodeState.UP, NodeState.STOPPING)
    faults.heal()
    world.run_for(10_000_000)
    assert not world.is_calm()
    nodes[1].state = NodeState.STARTING
    world.run_for(10_000_000)
    assert not world.is_calm()
    nodes[1].state = NodeState.UP
    world.run_for(1_000_000)
    assert world.is_calm()
    assert not world.is_calm(2_000_000)


def test_a_paused_node_must_go_on_first() -> None:
    world, nodes, faults = world_of(NodeState.UP, NodeState.UP)
    nodes[0].machine.boot()
    nodes[1].machine.boot()
    nodes[1].machine.pause(7_000_000)
    nodes[1].machine.pause(2_500_000)  # the longer pause counts
    faults.heal()
    world.run_for(6_900_000)
    assert not world.is_calm()
    world.run_for(200_000)
    assert world.is_calm()


def test_no_clock_becomes_so_wrong_that_a_leader_refuses_records() -> None:
    _, (node,), faults = world_of(NodeState.UP)
    wrong = []
    for _ in range(300):
        faults._clock_jump(node)
        wrong.append(node.machine.clock.offset_us)
    assert max(map(abs, wrong)) == MOST_WRONG_US
    assert MOST_WRONG_US < 3_600_000_000
    assert len(set(wrong)) > 100
