"""JoinGroup on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.join_group import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker

PROTOCOLS = [JoinGroupRequestProtocol(name="range", metadata=b"mine")]


def request(**fields: object) -> JoinGroupRequest:
    defaults = {
        "group_id": "g",
        "session_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": PROTOCOLS,
    }
    return JoinGroupRequest(**(defaults | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", range(10))
def test_from_the_first_join_to_the_generation(version: int) -> None:
    broker = GroupBroker()
    call = broker.call(HANDLER, request(rebalance_timeout_ms=60_000), version)
    if version >= 4:
        assert call.answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        member_id = call.answer.member_id
        call = broker.call(
            HANDLER, request(member_id=member_id, rebalance_timeout_ms=60_000), version
        )
    assert call.is_waiting
    broker.advance(0)
    answer = call.answer
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.leader == answer.member_id
    assert answer.member_id.startswith("c-")
    assert len(answer.member_id) == 38
    (member,) = answer.members
    assert (member.member_id, member.metadata) == (answer.member_id, b"mine")
    if version >= 7:
        assert answer.protocol_type == "consumer"
    group = broker.describe()
    assert group.members[0].client_host == "/127.0.0.1"
    hosted = broker.groups.runtime._hosted[broker.groups.partition_for("g")]
    joined = hosted.shard.groups["g"].members[answer.member_id]
    assert joined.rebalance_timeout_ms == (10_000 if version == 0 else 60_000)


@pytest.mark.parametrize("version", range(10))
def test_an_error(version: int) -> None:
    broker = GroupBroker()
    answer = broker.ask(HANDLER, request(member_id="ghost"), version)
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "ghost")
    assert answer.protocol_name == (None if version >= 7 else "")
    assert answer.generation_id == -1
    call = broker.call(HANDLER, request(member_id="ghost"), version)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15


def test_nobody_leads_the_partition() -> None:
    broker = GroupBroker(ready=False)
    assert broker.ask(HANDLER, request(), 9).error_code == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize("timeout", [5_999, 1_800_001, -1])
def test_session_timeouts_are_bounded(timeout: int) -> None:
    answer = GroupBroker().ask(HANDLER, request(session_timeout_ms=timeout), 9)
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
