"""Turns of the worker: rounds, gathering, and the four kinds of error."""

from __future__ import annotations

import logging
import struct
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers import Route
from pykbroker.broker.requests.worker import ROUNDS_PER_TURN, TURN_NS, Worker
from pykbroker.deferred import Deferred
from pykbroker.environment.loop_time import MS, LoopTime
from pykbroker.environment.slices import InOneGo, Slices
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.metrics import Counters
from pykbroker.network.request import CloseConnection, Request
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import decode_request_header, encode_request
from pykbroker.protocol.messages.api_versions_response import ApiVersionsResponse
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.parts_writer import Parts, join_parts

HEARTBEAT = 12


class Loop:
    def __init__(self) -> None:
        self.soon: deque[Any] = deque()

    def call_soon(self, function: Any) -> None:
        self.soon.append(function)


class Connection:
    """Hands over the next of its frames when the last one is answered, as the real one does."""

    def __init__(self, channel: RequestChannel, frames: list[bytes]) -> None:
        self.channel = channel
        self.frames = deque(frames)
        self.events: list[Any] = []
        self.replies: list[bytes] = []
        self.closed = False
        self.listener = SimpleNamespace(is_controller=False, name="PLAINTEXT")
        self.peer = "10.0.0.1:5"
        self.next()

    def next(self) -> None:
        if self.frames:
            request = Request(self, memoryview(self.frames.popleft()))  # type: ignore[arg-type]
            decode_request_header(request.frame, request)
            self.channel.put(request)

    def reply(self, payload: bytearray) -> None:
        self.replies.append(bytes(payload))
        self.channel.flush_later(self)  # type: ignore[arg-type]
        self.next()

    def reply_parts(self, parts: Any, size: int) -> None:
        payload = join_parts(parts)
        assert len(payload) == size
        self.reply(bytearray(payload))

    def no_reply(self) -> None:
        self.events.append("no reply")
        self.next()

    def refuse(self, reason: str) -> None:
        self.events.append(reason)
        self.closed = True

    def abandon(self, reason: str) -> None:
        self.events.append(f"abandoned: {reason}")
        self.closed = True

    def close(self) -> None:
        self.events.append("closed")
        self.closed = True

    def flush(self) -> None:
        self.events.append("flush")


class Threads:
    """Jobs that run when the test says so."""

    def __init__(self) -> None:
        self.jobs: deque[tuple[Any, Deferred]] = deque()

    def run(self, job: Any) -> Deferred:
        deferred = Deferred()
        self.jobs.append((job, deferred))
        return deferred

    def work(self) -> None:
        while self.jobs:
            job, deferred = self.jobs.popleft()
            try:
                outcome = job()
            except Exception as failure:
                outcome = failure
            deferred.resolve(outcome)

    def close(self) -> None:
        self.jobs.clear()


class Node:
    """A worker with one API, Heartbeat, whose handler the test gives."""

    def __init__(self, handle: Any, slices: Slices | None = None) -> None:
        self.loop = Loop()
        self.channel = RequestChannel(self.loop, 500)  # type: ignore[arg-type]
        self.counters = Counters()
        self.loop_time = LoopTime()
        self.threads = Threads()
        self.now_ns = 0
        self.environment = SimpleNamespace(
            clock=SimpleNamespace(monotonic_ns=self.monotonic_ns),
            loop_time=self.loop_time,
            background=SimpleNamespace(threads=lambda name: self.threads),
            slices=slices or InOneGo(),
        )
        self.halted: list[BaseException] = []
        self.end_rounds = 0
        self.turns_ended = 0
        self.on_end_round: Any = lambda: None
        route = Route("Heartbeat", "unused", False, None)
        route.loaded = True
        route.decode = HeartbeatRequest.decode
        route.handle = handle
        route.error_reply = lambda request, code, message: HeartbeatResponse(error_code=code)
        versions = Route("ApiVersions", "unused", True, None)
        versions.loaded = True
        versions.error_reply = lambda request, code, message: ApiVersionsResponse(error_code=code)
        self.route = route
        self.versions = versions
        self.routes = [route, versions]
        self.worker = Worker(
            self,  # type: ignore[arg-type]
            self.channel,
            turn_ended=self._turn_ended,
            halt=self.halt,
        )
        self.worker.serve_brokers(self, self._end_round)  # type: ignore[arg-type]

    def now_ms(self) -> int:
        return 1234

    def monotonic_ns(self) -> int:
        return self.now_ns

    def work(self, ms: int) -> None:
        self.now_ns += ms * MS

    def longest_ms(self) -> dict[str, int]:
        return {unit: held.longest_ns // MS for unit, held in self.loop_time.by_unit.items()}

    def halt(self, failure: BaseException) -> None:
        self.halted.append(failure)

    def _end_round(self) -> None:
        self.end_rounds += 1
        self.on_end_round()

    def _turn_ended(self) -> None:
        self.turns_ended += 1

    def connect(self, *frames: bytes) -> Connection:
        return Connection(self.channel, list(frames))

    def run(self) -> int:
        turns = 0
        while self.loop.soon:
            self.loop.soon.popleft()()
            turns += 1
        return turns


def heartbeat(correlation_id: int = 1, version: int = 4) -> bytes:
    out: Parts = []
    message = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    encode_request(APIS[HEARTBEAT], version, correlation_id, "me", message, out)
    return join_parts(out)[4:]


def answer(correlation_id: int, error: int = 0) -> bytes:
    body = struct.pack(">ibihb", correlation_id, 0, 0, error, 0)
    return struct.pack(">i", len(body)) + body


def test_a_request_is_decoded_handled_and_answered() -> None:
    seen: list[Any] = []

    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        seen.append((request.message.group_id, request.received_ms))
        return HeartbeatResponse()

    node = Node(handle)
    connection = node.connect(heartbeat(9))
    assert node.run() == 1
    assert seen == [("g", 1234)]
    assert connection.replies == [answer(9)]
    assert connection.events == ["flush"]
    assert node.route.request_count == 1
    assert node.turns_ended == 1


def test_a_turn_serves_pipelines_in_rounds_and_flushes_at_its_end() -> None:
    order: list[int] = []

    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        order.append(request.correlation_id)
        return HeartbeatResponse()

    node = Node(handle)
    one = node.connect(heartbeat(1), heartbeat(2), heartbeat(3))
    two = node.connect(heartbeat(11), heartbeat(12))
    assert node.run() == 1
    assert order == [1, 11, 2, 12, 3]
    assert node.end_rounds == 3
    assert one.events == ["flush"] * 3
    assert two.replies == [answer(11), answer(12)]


def test_a_turn_ends_after_some_rounds() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    connection = node.connect(*[heartbeat(n) for n in range(ROUNDS_PER_TURN + 1)])
    assert node.run() == 2
    assert len(connection.replies) == ROUNDS_PER_TURN + 1


def test_a_turn_ends_when_its_time_is_up_and_the_next_one_serves_the_rest() -> None:
    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        node.work(TURN_NS // MS // 2)
        return HeartbeatResponse()

    node = Node(handle)
    connections = [node.connect(heartbeat(n)) for n in range(5)]
    assert node.run() == 3
    assert [len(connection.replies) for connection in connections] == [1] * 5
    assert node.end_rounds == 3  # what was appended is written before the turn ends


def test_how_long_requests_and_ends_of_rounds_held_the_loop_is_recorded() -> None:
    waiting: list[Deferred] = []
    outcomes: list[Any] = [(3, HeartbeatResponse()), (0, HeartbeatResponse()), (0, Deferred())]

    def handle(broker: Any, request: Request) -> Any:
        ms, outcome = outcomes.pop(0)
        node.work(ms)
        if isinstance(outcome, Deferred):
            waiting.append(outcome)
        return outcome

    def end_round() -> None:
        if waiting:
            waiting.pop().resolve(HeartbeatResponse())
            node.work(5)
        elif len(outcomes) == 1:
            node.work(2)

    node = Node(handle)
    node.on_end_round = end_round
    node.connect(heartbeat(1))
    node.run()
    assert node.longest_ms() == {"Heartbeat": 3}
    node.connect(heartbeat(2))
    node.run()
    assert node.longest_ms() == {"Heartbeat": 3, "end of a round": 2}
    node.connect(heartbeat(3))
    node.run()
    assert node.longest_ms() == {
        "Heartbeat": 3,
        "end of a round": 2,
        "delayed Heartbeat": 5,
    }


def test_sends_are_recorded() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    connection = node.connect(heartbeat(1))
    connection.flush = lambda: node.work(4)  # type: ignore[method-assign]
    node.run()
    assert node.longest_ms() == {"sends": 4}


def test_what_waits_for_the_end_of_the_round_is_answered_in_the_turn() -> None:
    waiting: list[Deferred] = []

    def handle(broker: Any, request: Request) -> Deferred:
        waiting.append(Deferred())
        return waiting[-1]

    def release() -> None:
        while waiting:
            waiting.pop().resolve(HeartbeatResponse())

    node = Node(handle)
    node.on_end_round = release
    connection = node.connect(heartbeat(1), heartbeat(2))
    assert node.run() == 1
    assert connection.replies == [answer(1), answer(2)]


def test_what_the_end_of_a_round_queues_is_written_by_another_round_of_the_turn() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    left = 2

    def release() -> None:
        nonlocal left
        if left:
            left -= 1
            node.channel.wake()

    node.on_end_round = release
    node.connect(heartbeat(1))
    assert node.run() == 1
    assert (left, node.end_rounds) == (0, 3)


def test_a_wake_before_the_end_of_a_round_needs_no_other() -> None:
    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        node.channel.wake()
        return HeartbeatResponse()

    node = Node(handle)
    node.connect(heartbeat(1))
    assert node.run() == 1
    assert node.end_rounds == 1


def test_a_turn_without_time_leaves_what_was_queued_to_the_next_one() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())

    def release() -> None:
        if node.end_rounds == 1:
            node.work(TURN_NS // MS)
            node.channel.wake()

    node.on_end_round = release
    node.connect(heartbeat(1))
    assert node.run() == 2
    assert node.end_rounds == 2


def test_a_deferred_resolved_later_asks_for_a_turn() -> None:
    waiting = Deferred()
    node = Node(lambda broker, request: waiting)
    connection = node.connect(heartbeat(5))
    node.run()
    assert connection.replies == []
    waiting.resolve(KafkaError(ErrorCode.REBALANCE_IN_PROGRESS))
    assert connection.replies == [answer(5, 27)]
    assert node.run() == 1
    assert connection.events == ["flush"]


def test_a_deferred_that_is_done_already() -> None:
    waiting = Deferred()
    waiting.resolve(HeartbeatResponse())
    node = Node(lambda broker, request: waiting)
    connection = node.connect(heartbeat(5))
    node.run()
    assert connection.replies == [answer(5)]


def test_a_kafka_error_becomes_the_apis_answer() -> None:
    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)

    node = Node(handle)
    connection = node.connect(heartbeat(5))
    node.run()
    assert connection.replies == [answer(5, 25)]


def test_no_reply_and_close() -> None:
    outcomes: list[Any] = [None, CloseConnection("acks=0 and an error")]
    node = Node(lambda broker, request: outcomes.pop(0))
    connection = node.connect(heartbeat(1), heartbeat(2), heartbeat(3))
    node.run()
    assert connection.events == ["no reply", "abandoned: acks=0 and an error"]
    assert connection.replies == []


def test_our_bug_closes_the_connection_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def handle(broker: Any, request: Request) -> HeartbeatResponse:
        raise ValueError("what now")

    node = Node(handle)
    connection = node.connect(heartbeat(1))
    other = node.connect(heartbeat(2))
    with caplog.at_level(logging.ERROR):
        node.run()
    assert connection.events == other.events == ["closed"]
    assert "what now" in caplog.text
    assert node.counters.unexpected_errors == 2
    assert node.halted == []


def test_an_answer_that_cannot_be_told_is_an_unknown_server_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    waiting = Deferred()
    outcomes: list[Any] = [HeartbeatResponse(error_code=1 << 20), waiting]
    node = Node(lambda broker, request: outcomes.pop(0))
    connection = node.connect(heartbeat(1), heartbeat(2))
    node.run()
    waiting.resolve(HeartbeatResponse(error_code=1 << 20))
    assert connection.replies == [answer(1, -1), answer(2, -1)]
    assert "cannot encode the answer to" in caplog.text
    assert "Traceback" not in caplog.text
    assert node.counters.unexpected_errors == 2


def test_a_refusal_that_cannot_be_told_either_is_our_bug() -> None:
    node = Node(lambda broker, request: HeartbeatResponse(error_code=1 << 20))
    node.route.error_reply = lambda request, code, message: HeartbeatResponse(error_code=1 << 20)
    connection = node.connect(heartbeat(1))
    node.run()
    assert connection.events == ["closed"]


def test_a_bug_in_a_late_answer_is_ours_too(caplog: pytest.LogCaptureFixture) -> None:
    waiting = Deferred()
    node = Node(lambda broker, request: waiting)
    connection = node.connect(heartbeat(1))
    node.run()
    waiting.resolve("no message")
    assert connection.events == ["closed"]
    assert node.counters.unexpected_errors == 1


def test_a_bug_at_the_end_of_a_round_stops_the_node() -> None:
    def lost() -> None:
        raise RuntimeError("the log is in doubt")

    node = Node(lambda broker, request: HeartbeatResponse())
    node.on_end_round = lost
    node.connect(heartbeat(1))
    node.run()
    assert [str(failure) for failure in node.halted] == ["the log is in doubt"]


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_a_body_cut_short_is_the_peers_fault(cut: int) -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    connection = node.connect(heartbeat(1)[:-cut])
    node.run()
    assert connection.replies == []
    assert connection.events[0].startswith("malformed Heartbeat request of version 4: ")


def test_versions_and_apis_that_are_not_served() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    unknown_version = node.connect(struct.pack(">hhih", HEARTBEAT, 5, 1, -1) + b"\0")
    not_served = node.connect(struct.pack(">hhih", 3, 0, 1, -1))
    on_controller = Connection(node.channel, [heartbeat(1)])
    on_controller.listener.is_controller = True
    node.run()
    assert unknown_version.events == ["Heartbeat version 5 is not served on this listener"]
    assert not_served.events == ["Metadata version 0 is not served on this listener"]
    assert on_controller.events == ["Heartbeat version 4 is not served on this listener"]


def test_an_unknown_version_of_api_versions_is_answered_in_version_0() -> None:
    node = Node(lambda broker, request: HeartbeatResponse())
    connection = node.connect(struct.pack(">hhih", 18, 99, 77, -1) + b"\0whatever")
    node.run()
    assert connection.replies == [struct.pack(">iihi", 10, 77, 35, 0)]


def test_requests_of_a_closed_connection_are_dropped() -> None:
    calls: list[int] = []
    node = Node(lambda broker, request: calls.append(1))
    connection = node.connect(heartbeat(1))
    connection.closed = True
    node.run()
    assert calls == []
