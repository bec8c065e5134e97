"""The replies of JoinGroup and SyncGroup that more than one place builds."""

from __future__ import annotations

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import ClassicMember
from pykbroker.protocol.messages.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from pykbroker.protocol.messages.sync_group_response import SyncGroupResponse


def join_error(code: int, member_id: str, version: int) -> JoinGroupResponse:
    """An error. The protocol name is null from version 7 on, the empty string before."""
    return JoinGroupResponse(
        error_code=int(code),
        member_id=member_id,
        protocol_name=None if version >= 7 else "",
    )


def join_success(
    group: ClassicGroup, member: ClassicMember, *, skip_assignment: bool = False
) -> JoinGroupResponse:
    """The current generation; the leader also learns of all members."""
    members = []
    if group.leader_id == member.member_id:
        members = [
            JoinGroupResponseMember(
                member_id=other.member_id,
                group_instance_id=other.group_instance_id,
                metadata=other.metadata(group.protocol_name),
            )
            for other in group.members.values()
        ]
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=members,
    )


def sync_error(code: int) -> SyncGroupResponse:
    """An error, without protocol and assignment."""
    return SyncGroupResponse(error_code=int(code))


def sync_success(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    """The assignment of one member."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=assignment,
    )
