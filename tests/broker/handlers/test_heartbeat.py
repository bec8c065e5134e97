"""Heartbeat on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.heartbeat import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(5))
def test_alive(version: int) -> None:
    broker = GroupBroker()
    member_id = broker.stable_group()
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id=member_id)
    assert broker.ask(HANDLER, request, version).error_code == 0
    request.generation_id = 2
    assert broker.ask(HANDLER, request, version).error_code == ErrorCode.ILLEGAL_GENERATION
    request.member_id = "ghost"
    assert broker.ask(HANDLER, request, version).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    call = broker.call(HANDLER, request, version)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15


def test_fenced_by_the_instance_id() -> None:
    broker = GroupBroker()
    broker.stable_group()
    request = HeartbeatRequest(
        group_id="g", generation_id=1, member_id="ghost", group_instance_id="i"
    )
    assert broker.ask(HANDLER, request, 4).error_code == ErrorCode.FENCED_INSTANCE_ID


def test_no_group_id() -> None:
    answer = GroupBroker().ask(HANDLER, HeartbeatRequest(member_id="m"), 4)
    assert answer.error_code == ErrorCode.INVALID_GROUP_ID
