"""A node logs what it is waiting for, and stops logging it when it continues."""

from __future__ import annotations

import logging

import pytest

from pykbroker.broker.node_state import NodeState, StateKeeper
from tests.coordinator.memory_log import VirtualLoop


def test_a_state_that_lasts_is_logged_until_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    loop = VirtualLoop()
    keeper = StateKeeper(3, loop)
    with caplog.at_level(logging.INFO):
        keeper.enter(NodeState.CATCHING_UP)
        loop.advance(25_000)
        keeper.enter(NodeState.FENCED)
        loop.advance(9_999)
        keeper.enter(NodeState.SERVING)
        loop.advance(60_000)
    assert keeper.state is NodeState.SERVING
    assert [record.getMessage() for record in caplog.records] == [
        "node 3 is still waiting for the metadata quorum after 10 s",
        "node 3 is still waiting for the metadata quorum after 20 s",
    ]
