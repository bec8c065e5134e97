"""LeaveGroup on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.leave_group import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(6))
def test_leaving(version: int) -> None:
    broker = GroupBroker()
    member_id = broker.stable_group()
    if version < 3:
        request = LeaveGroupRequest(group_id="g", member_id="ghost")
        answer = broker.ask(HANDLER, request, version)
        assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
        request = LeaveGroupRequest(group_id="g", member_id=member_id)
        assert broker.ask(HANDLER, request, version).error_code == 0
    else:
        members = [MemberIdentity(member_id="ghost"), MemberIdentity(group_instance_id="i")]
        answer = broker.ask(HANDLER, LeaveGroupRequest(group_id="g", members=members), version)
        assert answer.error_code == 0
        assert [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members] == [
            ("ghost", None, int(ErrorCode.UNKNOWN_MEMBER_ID)),
            ("", "i", 0),
        ]
    assert broker.describe().group_state == "Empty"


@pytest.mark.parametrize("version", range(6))
def test_errors_of_the_whole_request(version: int) -> None:
    broker = GroupBroker(ready=False)
    members = [MemberIdentity(member_id="m")] if version >= 3 else []
    member_id = "" if version >= 3 else "m"
    request = LeaveGroupRequest(group_id="g", member_id=member_id, members=members)
    answer = broker.ask(HANDLER, request, version)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    request.group_id = ""
    answer = broker.ask(HANDLER, request, version)
    assert answer.error_code == ErrorCode.INVALID_GROUP_ID
    call = broker.call(HANDLER, request, version)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15
