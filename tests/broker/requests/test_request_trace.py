"""The worker that logs every request; the worker's own tests check that it serves the same."""

from __future__ import annotations

import logging
import re
import struct
from typing import Any

import pytest

from pykbroker.broker.handlers import InSlices
from pykbroker.broker.requests import request_trace
from pykbroker.broker.requests.request_trace import TracingWorker
from pykbroker.broker.requests.worker import REQUEST_LOG
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from tests.broker.requests.test_worker import HEARTBEAT, Node, answer, heartbeat

ASKED = "Heartbeat v4 correlation_id=5 client_id='me' of 10.0.0.1:5: "
SIZE = len(heartbeat(5)) + 4


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Any:
    """What has been told, without the microseconds."""
    caplog.set_level(logging.DEBUG, logger=REQUEST_LOG)

    def told() -> list[str]:
        texts = [each.getMessage() for each in caplog.records if each.name == REQUEST_LOG]
        return [re.sub(r" in \d+ us$", " in N us", text) for text in texts]

    return told


def node_that_tells(handle: Any) -> Node:
    node = Node(handle)
    node.worker = TracingWorker(
        node,  # type: ignore[arg-type]
        node.channel,
        turn_ended=node._turn_ended,
        halt=node.halt,
    )
    node.worker.serve_brokers(node, node._end_round)  # type: ignore[arg-type]
    return node


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (HeartbeatResponse(), "reply of 16 bytes in N us"),
        (KafkaError(ErrorCode.UNKNOWN_MEMBER_ID), "reply of 16 bytes in N us"),
        (None, "no reply in N us"),
        (CloseConnection("acks=0 and an error"), "connection closed in N us"),
        ("no message", "connection closed in N us"),
    ],
)
def test_a_request_and_what_came_of_it(lines: Any, outcome: Any, told: str) -> None:
    node = node_that_tells(lambda broker, request: outcome)
    node.connect(heartbeat(5))
    node.run()
    assert lines() == [f"{ASKED}{SIZE} bytes", ASKED + told]
    assert node.worker._taken_ns == {}  # type: ignore[attr-defined]


def test_a_reply_that_waits(lines: Any) -> None:
    waiting = Deferred()
    node = node_that_tells(lambda broker, request: waiting)
    connection = node.connect(heartbeat(5))
    node.run()
    assert lines() == [f"{ASKED}{SIZE} bytes"]
    waiting.resolve(KafkaError(ErrorCode.REBALANCE_IN_PROGRESS))
    assert connection.replies == [answer(5, 27)]
    assert lines()[1:] == [f"{ASKED}reply of 16 bytes in N us"]


def test_a_long_reply(lines: Any) -> None:
    node = node_that_tells(lambda broker, request: InSlices(HeartbeatResponse))
    node.connect(heartbeat(5))
    node.run()
    node.threads.work()
    assert lines()[1:] == [f"{ASKED}reply of 16 bytes in N us"]
    assert node.worker._taken_ns == {}  # type: ignore[attr-defined]


def test_a_client_that_did_not_wait(lines: Any) -> None:
    waiting = Deferred()
    node = node_that_tells(lambda broker, request: waiting)
    connection = node.connect(heartbeat(5))
    node.run()
    connection.closed = True
    waiting.resolve(HeartbeatResponse())
    assert lines()[1:] == [f"{ASKED}connection closed in N us"]


def test_requests_of_clients_that_left_are_forgotten(
    lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_trace, "FORGET_AT", 3)
    node = node_that_tells(lambda broker, request: Deferred())
    connections = [node.connect(heartbeat(number)) for number in range(3)]
    node.run()
    for connection in connections[:2]:
        connection.closed = True
    connections.append(node.connect(heartbeat(3)))
    node.run()
    kept = [at.connection for at in node.worker._taken_ns]  # type: ignore[attr-defined]
    assert kept == connections[2:]


def test_what_is_refused(lines: Any) -> None:
    node = node_that_tells(lambda broker, request: HeartbeatResponse())
    node.connect(struct.pack(">hhih", HEARTBEAT, 9, 5, -1) + b"\0")
    node.connect(heartbeat(5)[:-1])
    node.connect(struct.pack(">hhih", 18, 99, 5, -1) + b"\0whatever")
    node.run()
    unnamed = "correlation_id=5 client_id='' of 10.0.0.1:5: "
    assert lines() == [
        f"Heartbeat v9 {unnamed}15 bytes",
        f"Heartbeat v9 {unnamed}connection closed in N us",
        f"{ASKED}{SIZE - 1} bytes",
        f"{ASKED}connection closed in N us",
        f"ApiVersions v99 {unnamed}23 bytes",
        # The one version that every client reads (KIP-511).
        f"ApiVersions v0 {unnamed}reply of 14 bytes in N us",
    ]


def test_nothing_of_connections_that_are_closed_already(lines: Any) -> None:
    node = node_that_tells(lambda broker, request: HeartbeatResponse())
    connection = node.connect(heartbeat(5))
    connection.closed = True
    node.run()
    assert lines() == []
