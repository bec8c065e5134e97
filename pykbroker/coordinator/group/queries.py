"""What DescribeGroups and ListGroups show of classic groups. Reads only."""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.coordinator.group.classic.group import GROUP_TYPE, ClassicGroup
from pykbroker.coordinator.group.classic.states import RULES, GroupState
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
)
from pykbroker.protocol.messages.list_groups_response import ListedGroup

GROUP_ID_NOT_FOUND_FROM = 6


def describe(group_id: str, group: ClassicGroup | None, version: int) -> DescribedGroup:
    """Describe one group. During a rebalance the protocol and the members' metadata are empty,
    while the members keep their last assignment (none if that rebalance was not completed); a group
    that does not exist is Dead.
    """
    if group is None:
        described = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
        if version >= GROUP_ID_NOT_FOUND_FROM:
            described.error_code = int(ErrorCode.GROUP_ID_NOT_FOUND)
            described.error_message = f"Group {group_id} not found."
        return described
    shows_protocol = RULES[group.state].shows_protocol
    protocol = group.protocol_name or ""
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol if shows_protocol else "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(protocol) if shows_protocol else b"",
                member_assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )


def describe_error(group_id: str, code: int) -> DescribedGroup:
    """Return the description of a group for which this broker has only an error."""
    return DescribedGroup(group_id=group_id, error_code=int(code))


def may_match(filters: Iterable[str]) -> list[str]:
    """Return those filters that are a state or the type of classic groups: each once, in lower
    case.
    """
    known = {GROUP_TYPE, *(state.value.lower() for state in GroupState)}
    return sorted(known & {text.lower() for text in filters})


def list_groups(
    groups: Iterable[ClassicGroup], states: Iterable[str], types: Iterable[str]
) -> list[ListedGroup]:
    """Return the groups in one of the states and of one of the types; an empty
    filter matches all.
    """
    wanted_states = {state.strip().lower() for state in states}
    wanted_types = {kind.lower() for kind in types}
    if wanted_types and GROUP_TYPE not in wanted_types:
        return []
    return [
        ListedGroup(
            group_id=group.group_id,
            protocol_type=group.protocol_type or "",
            group_state=group.state.value,
            group_type=GROUP_TYPE,
        )
        for group in groups
        if not wanted_states or group.state.value.lower() in wanted_states
    ]
