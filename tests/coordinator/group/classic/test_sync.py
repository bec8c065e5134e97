"""SyncGroup: retries, missing assignments, late syncs."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from tests.coordinator.group_world import GroupWorld


@pytest.fixture
def world() -> GroupWorld:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.join("a", client="a", version=3)
    world.advance(0)
    world.join("b", client="b", version=3)
    world.join("a", member="a-01", version=3)
    return world


def test_a_retried_sync_ends_the_first_one(world: GroupWorld) -> None:
    first = world.sync("b", member="b-02", generation=2)
    second = world.sync("b", member="b-02", generation=2)
    assert first.value.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    world.sync("a", member="a-01", generation=2, assign="b-02:mine")
    assert second.value.assignment == b"mine"


def test_members_that_the_leader_forgot_get_nothing(world: GroupWorld) -> None:
    leader = world.sync("a", member="a-01", generation=2, assign="ghost:x,b-02:mine")
    assert (leader.error_code, leader.assignment) == (0, b"")
    late = world.sync("b", member="b-02", generation=2)
    assert (late.protocol_type, late.protocol_name, late.assignment) == (
        "consumer",
        "range",
        b"mine",
    )
    record = world.group("g").durable
    assert record is not None
    assert {m.member_id: m.assignment for m in record.members} == {"a-01": b"", "b-02": b"mine"}


def test_a_member_that_never_syncs_a_stable_group_is_out(world: GroupWorld) -> None:
    world.sync("a", member="a-01", generation=2)
    for _ in range(10):
        world.advance(6_000)
        world.heartbeat("a", member="a-01", generation=2)
        world.heartbeat("b", member="b-02", generation=2)
    assert list(world.group("g").members) == ["a-01"]


def test_protocol_checks_are_only_for_those_who_name_one(world: GroupWorld) -> None:
    refused = world.sync(member="a-01", generation=2, protocol="sticky")
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    refused = world.sync(member="a-01", generation=2, protocol_type="connect")
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    accepted = world.sync(member="a-01", generation=2, protocol_type=None, protocol=None)
    assert accepted.error_code == 0
