"""The replies of JoinGroup and SyncGroup can be sent in every version."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.replies import (
    join_error,
    join_success,
    sync_error,
    sync_success,
)
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.errors import ErrorCode
from pykbroker.protocol.parts_writer import Parts
from tests.coordinator.group.classic.test_group import member


@pytest.fixture
def group() -> ClassicGroup:
    group = ClassicGroup("g", 0)
    group.add(member("a", instance="ia"))
    group.add(member("b"))
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(0)
    return group


@pytest.mark.parametrize("version", range(10))
def test_join(group: ClassicGroup, version: int) -> None:
    leader = join_success(group, group.members["a"], skip_assignment=version >= 9)
    follower = join_success(group, group.members["b"])
    for reply in (leader, follower, join_error(ErrorCode.UNKNOWN_MEMBER_ID, "x", version)):
        out: Parts = []
        reply.encode(out, version)
        assert out
    assert [m.member_id for m in leader.members] == ["a", "b"]
    assert follower.members == []
    assert follower.leader == "a"


@pytest.mark.parametrize("version", range(6))
def test_sync(group: ClassicGroup, version: int) -> None:
    for reply in (sync_success(group, b"mine"), sync_error(ErrorCode.ILLEGAL_GENERATION)):
        out: Parts = []
        reply.encode(out, version)
        assert out
    assert sync_success(group, b"mine").protocol_name == "range"
    assert sync_error(ErrorCode.ILLEGAL_GENERATION).protocol_name is None
