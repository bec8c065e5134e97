"""DescribeGroups on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.describe_groups import HANDLER
from pykbroker.broker.requests.authorized_operations import GROUP_OPERATIONS
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.describe_groups_request import DescribeGroupsRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(7))
def test_describe(version: int) -> None:
    broker = GroupBroker()
    member_id = broker.stable_group()
    request = DescribeGroupsRequest(groups=["g", "ghost"])
    if version >= 3:
        request.include_authorized_operations = True
    found, ghost = broker.ask(HANDLER, request, version).groups
    assert (found.group_id, found.error_code, found.group_state) == ("g", 0, "Stable")
    assert (found.protocol_type, found.protocol_data) == ("consumer", "range")
    (member,) = found.members
    assert (member.member_id, member.member_assignment) == (member_id, b"all")
    assert ghost.group_state == "Dead"
    if version >= 6:
        assert ghost.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        assert ghost.error_message == "Group ghost not found."
    else:
        assert ghost.error_code == 0
    if version >= 3:
        assert found.authorized_operations == GROUP_OPERATIONS == 3400
    if version >= 4:
        assert member.group_instance_id == "i"


def test_operations_are_told_to_those_who_ask() -> None:
    broker = GroupBroker()
    broker.stable_group()
    (found,) = broker.ask(HANDLER, DescribeGroupsRequest(groups=["g"]), 6).groups
    assert found.authorized_operations == -(2**31)


@pytest.mark.parametrize("version", range(7))
def test_not_the_coordinator(version: int) -> None:
    broker = GroupBroker(ready=False)
    call = broker.call(HANDLER, DescribeGroupsRequest(groups=["g"]), version)
    (found,) = call.answer.groups
    assert (found.group_id, found.error_code) == ("g", ErrorCode.NOT_COORDINATOR)
    (found,) = error_reply(HANDLER, call.request, 15, None).groups
    assert found.error_code == 15


def test_a_group_is_described_once() -> None:
    broker = GroupBroker()
    broker.stable_group()
    answer = broker.ask(HANDLER, DescribeGroupsRequest(groups=["ghost", "g"] * 1000), 5)
    assert [group.group_id for group in answer.groups] == ["ghost", "g"]
