"""DeleteGroups on the wire, in every version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.delete_groups import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.delete_groups_request import DeleteGroupsRequest
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.group_broker import GroupBroker


@pytest.mark.parametrize("version", range(4))
def test_delete(version: int) -> None:
    broker = GroupBroker()
    broker.stable_group()
    broker.commit("simple")
    request = DeleteGroupsRequest(groups_names=["simple", "g", "ghost", "simple"])
    answer = broker.ask(HANDLER, request, version)
    assert [(result.group_id, result.error_code) for result in answer.results] == [
        ("simple", 0),
        ("g", int(ErrorCode.NON_EMPTY_GROUP)),
        ("ghost", int(ErrorCode.GROUP_ID_NOT_FOUND)),
    ]
    assert broker.describe("simple").group_state == "Dead"
    call = broker.call(HANDLER, request, version)
    reply = error_reply(HANDLER, call.request, 15, None)
    assert [result.error_code for result in reply.results] == [15, 15, 15]
