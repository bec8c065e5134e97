"""SyncGroup on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.sync_group import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(6))
def test_the_assignment(version: int) -> None:
    broker = GroupBroker()
    member_id = broker.stable_group()
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id=member_id)
    if version >= 5:
        request.protocol_type, request.protocol_name = "consumer", "range"
    answer = broker.ask(HANDLER, request, version)
    assert (answer.error_code, answer.assignment) == (0, b"all")
    if version >= 5:
        assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name"), [(None, "range"), ("consumer", None), ("consumer", "other")]
)
def test_version_5_must_name_the_protocol(protocol_type: str, protocol_name: str) -> None:
    broker = GroupBroker()
    request = SyncGroupRequest(
        group_id="g",
        generation_id=1,
        member_id=broker.stable_group(),
        protocol_type=protocol_type,
        protocol_name=protocol_name,
    )
    answer = broker.ask(HANDLER, request, 5)
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", range(6))
def test_an_error(version: int) -> None:
    broker = GroupBroker()
    request = SyncGroupRequest(group_id="g", member_id="ghost", generation_id=1)
    if version >= 5:
        request.protocol_type, request.protocol_name = "consumer", "range"
    answer = broker.ask(HANDLER, request, version)
    assert (answer.error_code, answer.assignment) == (ErrorCode.UNKNOWN_MEMBER_ID, b"")
    call = broker.call(HANDLER, request, version)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15
