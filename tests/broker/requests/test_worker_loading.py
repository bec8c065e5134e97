"""Requests that come before the code of their API is loaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.environment.slices import InOneGo, go_on
from pykbroker.network.request import Request
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from tests.broker.requests.test_worker import Node, answer, heartbeat


class LaterSlices(InOneGo):
    """Slices whose jobs run when the test says so."""

    def __init__(self) -> None:
        self.jobs: deque[tuple[Callable[[], object], Deferred]] = deque()

    def run(
        self,
        name: str,
        job: Callable[[], object],
        is_wanted: Callable[[], bool] = lambda: True,
        after_slice: Callable[[], None] = go_on,
    ) -> Deferred:
        deferred = Deferred()
        self.jobs.append((job, deferred))
        return deferred

    def work(self) -> None:
        while self.jobs:
            job, deferred = self.jobs.popleft()
            deferred.resolve(InOneGo().run("job", job).value)


class UnloadedNode(Node):
    """A node whose route of Heartbeat is not loaded; `loads` counts how often it was."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        failure: Exception | None = None,
        is_later: bool = True,
    ) -> None:
        self.failure = failure
        self.loads = 0
        self.later = LaterSlices()
        self.handled: list[int] = []
        super().__init__(self._handle, self.later if is_later else None)
        self.route.loaded = False
        monkeypatch.setattr(type(self.route), "load", lambda route: self._load())

    def _load(self) -> None:
        self.loads += 1
        if self.failure is not None:
            raise self.failure
        self.route.loaded = True

    def _handle(self, broker: Any, request: Request) -> HeartbeatResponse:
        self.handled.append(request.correlation_id)
        return HeartbeatResponse()


def test_a_request_waits_for_the_code_of_its_api(monkeypatch: pytest.MonkeyPatch) -> None:
    node = UnloadedNode(monkeypatch)
    first = node.connect(heartbeat(1), heartbeat(2))
    second = node.connect(heartbeat(3))
    node.run()
    assert (node.handled, node.loads, len(node.later.jobs)) == ([], 0, 1)
    node.later.work()
    node.run()
    assert node.handled == [1, 3, 2]
    assert first.replies == [answer(1), answer(2)]
    assert second.replies == [answer(3)]
    assert node.loads == 1
    assert node.route.request_count == 3


def test_other_apis_are_served_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    node = UnloadedNode(monkeypatch)
    node.connect(heartbeat(1))
    refused = node.connect(b"\x00\x12\x00\x63" + b"\x00\x00\x00\x4d" + b"\xff\xff\x00")
    node.run()
    assert len(refused.replies) == 1
    assert node.handled == []


def test_where_computing_takes_no_time_it_is_served_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = UnloadedNode(monkeypatch, is_later=False)
    connection = node.connect(heartbeat(1))
    assert node.run() == 1
    assert connection.replies == [answer(1)]


def test_a_client_that_has_left_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    node = UnloadedNode(monkeypatch)
    connection = node.connect(heartbeat(1))
    node.run()
    connection.closed = True
    node.later.work()
    node.run()
    assert node.handled == []


@pytest.mark.parametrize("is_later", [False, True])
def test_a_failed_import_closes_the_connection_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_later: bool
) -> None:
    node = UnloadedNode(monkeypatch, OSError(24, "Too many open files"), is_later)
    connection = node.connect(heartbeat(1))
    node.run()
    node.later.work()
    assert connection.events[0] == "closed"
    assert node.counters.unexpected_errors == 1
    assert "Too many open files" in caplog.text
    node.failure = None
    again = node.connect(heartbeat(2))
    node.run()
    node.later.work()
    node.run()
    assert again.replies == [answer(2)]
