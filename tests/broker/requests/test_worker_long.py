"""How the worker has long requests decoded, handled and encoded."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.handlers import InSlices
from pykbroker.deferred import Deferred, resolved
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.primitives import DecodeError, TooManyElements
from tests.broker.requests.test_worker import Node, answer, heartbeat


def many_elements(*arguments: Any) -> Any:
    """The decoder of a request that is too long for the loop."""
    if len(arguments) > 3:
        raise TooManyElements("too many")
    return HeartbeatRequest.decode(*arguments)


def test_a_long_request_is_decoded_and_its_reply_encoded_by_the_thread() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    node.route.decode = many_elements
    connection = node.connect(heartbeat(1), heartbeat(2))
    node.run()
    assert (len(node.threads.jobs), connection.replies) == (1, [])
    node.threads.work()
    node.run()
    assert connection.replies == [answer(1)]  # one request at a time, also when they are long
    node.threads.work()
    node.run()
    assert connection.replies == [answer(1), answer(2)]


def test_a_handler_may_ask_for_slices_at_once_or_later() -> None:
    later = Deferred()
    outcomes: list[Any] = [
        InSlices(HeartbeatResponse),
        InSlices(lambda: InSlices(lambda: resolved(HeartbeatResponse(error_code=7)))),
        later,
    ]
    node = Node(lambda broker, request: outcomes.pop(0))
    connection = node.connect(*[heartbeat(number) for number in range(3)])
    for _ in range(3):
        node.run()
        node.threads.work()
    later.resolve(InSlices(lambda: HeartbeatResponse(error_code=9)))
    node.threads.work()
    assert connection.replies == [answer(0), answer(1, 7), answer(2, 9)]


def test_errors_of_long_requests() -> None:
    def refuse() -> None:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)

    node = Node(lambda broker, request: InSlices(refuse))
    connection = node.connect(heartbeat(1))
    node.run()
    node.threads.work()
    assert connection.replies == [answer(1, int(ErrorCode.INVALID_GROUP_ID))]

    node = Node(lambda broker, request: InSlices(lambda: 1 // 0))
    connection = node.connect(heartbeat(1))
    node.run()
    node.threads.work()
    assert connection.events == ["closed"]
    assert node.counters.unexpected_errors == 1


def test_a_long_request_that_is_malformed_after_all() -> None:
    def decode(*arguments: Any) -> Any:
        raise TooManyElements("too many") if len(arguments) > 3 else DecodeError("cut short")

    node = Node(lambda broker, request: HeartbeatResponse())
    node.route.decode = decode
    connection = node.connect(heartbeat(1))
    node.run()
    node.threads.work()
    assert connection.events == ["malformed Heartbeat request of version 4: cut short"]


def test_a_long_request_of_a_client_that_went_is_not_handled() -> None:
    handled: list[Any] = []
    node = Node(lambda broker, request: handled.append(request))
    node.route.decode = many_elements
    connection = node.connect(heartbeat(1))
    node.run()
    connection.closed = True
    node.threads.work()
    assert handled == []


def test_a_long_reply_that_cannot_be_encoded_is_an_unknown_server_error() -> None:
    node = Node(lambda broker, request: InSlices(lambda: HeartbeatResponse(error_code=1 << 20)))
    connection = node.connect(heartbeat(1))
    node.run()
    node.threads.work()
    assert connection.replies == [answer(1, -1)]
    assert node.counters.unexpected_errors == 1


def test_a_long_request_without_a_reply() -> None:
    node = Node(lambda broker, request: InSlices(lambda: None))
    connection = node.connect(heartbeat(1))
    node.run()
    assert connection.events == ["no reply"]
    node.worker.close()
