"""The worker that measures; that it serves alike is what the worker's tests say."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers import InSlices
from pykbroker.broker.monitoring.measuring_worker import MeasuringWorker
from pykbroker.broker.monitoring.request_times import BOUNDS_NS, RequestTimes
from pykbroker.deferred import Deferred
from pykbroker.environment.loop_time import MS
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.messages.leave_group_response import LeaveGroupResponse, MemberResponse
from tests.broker.requests.test_worker import HEARTBEAT, Node, answer, heartbeat
from tests.broker.requests.test_worker_loading import LaterSlices


class MeasuredNode(Node):
    def __init__(self, handle: Any, slices: Any = None) -> None:
        super().__init__(handle, slices)
        self.measuring = MeasuringWorker(
            self,  # type: ignore[arg-type]
            self.channel,
            turn_ended=self._turn_ended,
            halt=self.halt,
        )
        self.worker = self.measuring
        self.worker.serve_brokers(self, self._end_round)  # type: ignore[arg-type]

    @property
    def times(self) -> RequestTimes:
        return self.measuring.times[HEARTBEAT]

    def bucket(self) -> int:
        """The upper bound of the only bucket with a request, in nanoseconds."""
        (index,) = [number for number, count in enumerate(self.times.counts) if count]
        return BOUNDS_NS[index]


def test_a_request_is_measured() -> None:
    def handle(broker: Any, request: Any) -> HeartbeatResponse:
        node.work(ms=4)
        return HeartbeatResponse()

    node = MeasuredNode(handle)
    connection = node.connect(heartbeat(1), heartbeat(2))
    node.run()
    assert connection.replies == [answer(1), answer(2)]
    assert node.times.by_version[4] == 2
    assert node.bucket() == 5 * MS
    assert node.times.total_ns == 8 * MS
    assert node.times.request_bytes == 2 * len(heartbeat())
    assert node.times.response_bytes == 2 * len(answer(1))
    assert node.times.errors == {}
    assert node.measuring.busy_ns == 8 * MS


def test_what_waits_is_measured_to_its_answer() -> None:
    deferred = Deferred()
    node = MeasuredNode(lambda broker, request: deferred)
    node.connect(heartbeat())
    node.run()
    assert sum(node.times.counts) == 0
    node.work(ms=60)
    deferred.resolve(HeartbeatResponse(error_code=27))
    assert node.bucket() == 70 * MS
    assert node.times.errors == {27: 1}


def test_what_waits_for_the_code_of_its_api_is_measured_from_when_it_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = LaterSlices()
    node = MeasuredNode(lambda broker, request: HeartbeatResponse(), later)
    node.route.loaded = False
    monkeypatch.setattr(type(node.route), "load", lambda route: setattr(route, "loaded", True))
    connection = node.connect(heartbeat(1), heartbeat(2))
    node.run()
    node.work(ms=60)
    later.work()
    node.run()
    assert connection.replies == [answer(1), answer(2)]
    assert sum(node.times.counts) == 2
    assert node.times.total_ns == 60 * MS


@pytest.mark.parametrize(
    "outcome", [KafkaError(ErrorCode.UNKNOWN_MEMBER_ID), HeartbeatResponse(error_code=25)]
)
def test_an_error_is_counted_once(outcome: Any) -> None:
    node = MeasuredNode(lambda broker, request: outcome)
    connection = node.connect(heartbeat(3))
    node.run()
    assert connection.replies == [answer(3, error=25)]
    assert node.times.errors == {25: 1}
    assert sum(node.times.counts) == node.times.by_version[4] == 1


def test_an_error_that_is_raised() -> None:
    def handle(broker: Any, request: Any) -> HeartbeatResponse:
        raise KafkaError(ErrorCode.NOT_COORDINATOR)

    node = MeasuredNode(handle)
    node.connect(heartbeat(3))
    node.run()
    assert node.times.errors == {16: 1}
    assert sum(node.times.counts) == 1


def test_errors_of_what_a_response_names() -> None:
    members = [MemberResponse(member_id=f"m{code}", error_code=code) for code in (0, 25, 25)]
    node = MeasuredNode(lambda broker, request: LeaveGroupResponse(error_code=15, members=members))
    node.connect(heartbeat(3))
    node.run()
    assert node.times.errors == {15: 1, 25: 2}


def test_requests_without_a_reply() -> None:
    node = MeasuredNode(lambda broker, request: None)
    node.connect(heartbeat())
    node.run()
    assert sum(node.times.counts) == 1
    assert node.times.response_bytes == 0


def test_a_long_request_is_measured_to_its_end() -> None:
    def job() -> HeartbeatResponse:
        node.work(ms=9)
        return HeartbeatResponse()

    node = MeasuredNode(lambda broker, request: InSlices(job))
    connection = node.connect(heartbeat(1))
    node.run()
    node.threads.work()
    node.run()
    assert connection.replies == [answer(1)]
    assert sum(node.times.counts) == 1
    assert node.bucket() == 10 * MS
    assert node.times.response_bytes == len(answer(1))
