"""The rule about last stable offsets, and crashes between the phases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.testing.world.node import NodeState
from pykbroker.testing.world.transaction_invariants import (
    CrashesBetween,
    DifferentClocks,
    LastStableOffsets,
)
from pykbroker.testing.world.transactions import TOPIC
from pykbroker.testing.world.world import Violation, World
from tests.testing.world.transactional_life import transactional_life


def test_the_last_stable_offset_must_not_pass_an_open_transaction() -> None:
    life = transactional_life()
    node = life.node
    assert life.transactions is not None
    assert node.state is NodeState.UP
    view = SimpleNamespace(open={"transaction": 0})
    ledger: Any = SimpleNamespace(
        topic=TOPIC, views=[view], first_open_offset=lambda index, now_us: 0
    )
    rule = LastStableOffsets(ledger)
    rule.check(node, node.server)
    ledger.first_open_offset = lambda index, now_us: -1
    with pytest.raises(Violation, match="a transaction is open from -1 on"):
        rule.check(node, node.server)
    rule.check(node, None)
    ledger.first_open_offset = lambda index, now_us: None
    rule.check(node, node.server)


def test_different_clocks_may_end_every_transaction() -> None:
    jumps: list[int] = []
    nodes: list[Any] = [
        SimpleNamespace(machine=SimpleNamespace(clock=SimpleNamespace(offset_us=0)))
        for _ in range(2)
    ]
    ledger: Any = SimpleNamespace(clock_jumped=lambda: jumps.append(1))
    rule = DifferentClocks(nodes, ledger)
    rule.check(World(1))
    assert not jumps
    nodes[1].machine.clock.offset_us = -1
    rule.check(World(1))
    assert jumps == [1]


def test_a_crash_comes_soon_after_the_coordinator_has_written() -> None:
    life = transactional_life()
    node = life.node
    assert node.server is not None
    faults: Any = SimpleNamespace(crash_at_call=lambda node, number: asked.append(number))
    asked: list[int] = []
    rule = CrashesBetween(life.world, faults, 1)
    found = SimpleNamespace(log=SimpleNamespace(log_end_offset=0))
    server: Any = node.server
    server.replica_manager = SimpleNamespace(find=lambda topic, index: found)
    for _ in range(200):
        rule.check(node, server)
    assert not asked  # nothing is written
    for _ in range(200):
        found.log.log_end_offset += 1
        rule.check(node, server)
    assert 0 < len(asked) < 60
    assert rule.count == len(asked)
    assert max(asked) <= 12
