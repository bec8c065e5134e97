"""DescribeGroups and ListGroups."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group import queries
from pykbroker.errors import ErrorCode
from tests.coordinator.group_world import GroupWorld, subscription


@pytest.fixture
def world() -> GroupWorld:
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.join(instance="i", client="me", version=9)
    world.advance(0)
    world.sync(member="i-01", instance="i", generation=1, assign="i-01:all")
    world.commit(group="simple")
    return world


def test_a_stable_group_in_full(world: GroupWorld) -> None:
    (group,) = world.describe()
    (member,) = group.members
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert (member.member_id, member.group_instance_id, member.client_id) == ("i-01", "i", "me")
    assert member.client_host == "/127.0.0.1"
    assert (member.member_metadata, member.member_assignment) == (subscription("t"), b"all")
    assert group.authorized_operations == -(2**31)


def test_groups_come_in_the_order_asked_for(world: GroupWorld) -> None:
    found = world.describe(groups="simple,nobody,g", version=5)
    assert [g.group_id for g in found] == ["simple", "nobody", "g"]
    assert [g.error_code for g in found] == [0, 0, 0]
    (missing,) = world.describe(groups="nobody", version=6)
    assert missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert missing.error_message == "Group nobody not found."


@pytest.mark.parametrize(
    ("states", "types", "found"),
    [
        ("", "", ["g", "simple"]),
        ("stable", "", ["g"]),
        ("Empty,Stable", "Classic", ["g", "simple"]),
        ("Dead", "", []),
        ("", "consumer,share", []),
        ("", "nonsense", []),
        ("nonsense", "", []),
    ],
)
def test_filters(world: GroupWorld, states: str, types: str, found: list[str]) -> None:
    reply = world.list(states=states, types=types)
    assert [group.group_id for group in reply.groups] == found


def test_a_refused_group_has_only_its_error() -> None:
    group = queries.describe_error("g", ErrorCode.NOT_COORDINATOR)
    assert (group.group_id, group.error_code, group.group_state) == ("g", 16, "")
