"""Heartbeats that are not decoded: the coordinator is asked all the same."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.heartbeat import HANDLER
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from tests.broker.handlers.group_broker import GroupBroker
from tests.broker.prepared.callers import Caller


@pytest.mark.parametrize("version", range(5))
def test_the_coordinator_is_asked_each_time(version: int) -> None:
    broker = GroupBroker()
    caller = Caller(broker, HANDLER, HeartbeatRequest)
    question = HeartbeatRequest(group_id="g", generation_id=1, member_id="not yet")
    assert caller.prepare(caller.frame(question, version, 1)) is not None

    def same(correlation_id: int) -> bytes:
        frame = caller.frame(question, version, correlation_id)
        served = caller.serve(frame)
        assert served is not None
        assert served == caller.general(frame)
        return served[8:]

    unknown = same(1)
    question.member_id = broker.stable_group()
    assert caller.serve(caller.frame(question, version, 2)) is None
    assert caller.prepare(caller.frame(question, version, 2)) is not None
    alive = same(3)
    assert alive != unknown
    assert same(-4) == alive
    question.generation_id = 7
    assert caller.prepare(caller.frame(question, version, 5)) is not None
    assert same(6) not in (alive, unknown)


def test_a_coordinator_elsewhere_is_told_of() -> None:
    broker = GroupBroker(ready=False)
    caller = Caller(broker, HANDLER, HeartbeatRequest)
    question = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    frame = caller.frame(question, 4, 1)
    assert caller.prepare(frame) is not None
    assert caller.serve(frame) == caller.general(frame)
