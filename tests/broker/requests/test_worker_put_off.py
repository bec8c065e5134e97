"""What the worker does between the replies of a turn and the requests of the next one."""

from __future__ import annotations

from typing import Any

from pykbroker.network.request import Request
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from tests.broker.requests.test_worker import Node, answer, heartbeat


def test_what_is_put_off_comes_after_the_replies_and_before_the_next_request() -> None:
    happened: list[str] = []
    appended = 0

    def put_off() -> None:
        nonlocal appended
        happened.append("put off")
        appended = 2
        node.channel.wake()

    def flush() -> None:
        happened.append("sent")
        if len(connections) == 1:
            connections.append(node.connect(heartbeat(2)))  # the client's next one is quick

    def release() -> None:
        nonlocal appended
        if appended:
            appended -= 1
            happened.append("written")
            if appended:
                node.channel.wake()

    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        happened.append("request")
        if len(happened) == 1:
            node.channel.after_sends(put_off)
        return HeartbeatResponse()

    node = Node(handle)
    node.on_end_round = release
    connections = [node.connect(heartbeat(1))]
    connections[0].flush = flush  # type: ignore[method-assign]
    assert node.run() == 2
    assert happened == ["request", "sent", "put off", "written", "written", "request"]
    assert connections[1].replies == [answer(2)]
