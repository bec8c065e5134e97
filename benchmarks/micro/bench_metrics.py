"""The cost of `--metrics-listen`: a request through the worker, with and without measuring.

    python -m benchmarks.micro.bench_metrics [--rounds N] [--scale X]

No sockets: heartbeats that are answered at once, 20 a turn. "rendering" is the cost of producing
the text of a scrape, in a node by a thread. Budget: measuring costs at most 1 us a request, and
nothing if metrics are off, because the plain worker then serves. Figures are the median of several
rounds, in processor time; the plain and the measuring worker take turns.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.command_line import add_effort, parser_for, times
from pykbroker.broker.handlers import Route
from pykbroker.broker.monitoring.families import Families, render
from pykbroker.broker.monitoring.measuring_worker import MeasuringWorker
from pykbroker.broker.requests.worker import Worker
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.slices import InOneGo
from pykbroker.metrics import Counters
from pykbroker.network.request import Request
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.headers import decode_request_header, encode_request
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.parts_writer import Parts

ROUNDS = 21
TURNS = 1000
GATHERED = 20
SERIES = 10_000


class Connection:
    """Takes replies and drops them."""

    closed = False
    listener = SimpleNamespace(is_controller=False, name="PLAINTEXT")

    def __init__(self) -> None:
        self.replies = 0

    def reply(self, payload: bytearray) -> None:
        self.replies += 1


class Node:
    """A worker with one API, whose handler answers at once."""

    def __init__(self, make: type[Worker]) -> None:
        route = Route("Heartbeat", "unused", False, None)
        route.loaded = True
        route.decode = HeartbeatRequest.decode
        route.handle = lambda services, request: HeartbeatResponse()
        soon: deque[Callable[[], None]] = deque()
        scheduler: Any = SimpleNamespace(call_soon=soon.append)
        channel = RequestChannel(scheduler, 500)
        services: Any = SimpleNamespace(
            now_ms=lambda: 0,
            routes=[route],
            counters=Counters(),
            environment=SimpleNamespace(
                clock=SimpleNamespace(monotonic_ns=time.monotonic_ns),
                loop_time=LoopTime(),
                background=SimpleNamespace(threads=lambda name: None),
                slices=InOneGo(),
            ),
        )
        self.channel = channel
        self.worker = make(services, channel, turn_ended=lambda: None, halt=self.halt)
        self.connection = Connection()

    def halt(self, failure: BaseException) -> None:
        raise failure

    def request(self, frame: memoryview) -> Request:
        request = Request(self.connection, frame)  # type: ignore[arg-type]
        decode_request_header(frame, request)
        return request

    def microseconds(self, frame: memoryview, turns: int) -> float:
        """Return microseconds per request, over this many turns."""
        spent = 0
        for _ in range(turns):
            self.channel.queue.extend(self.request(frame) for _ in range(GATHERED))
            started = time.thread_time_ns()
            while self.channel.queue:  # a turn that was interrupted ends early
                self.worker.run_turn()
            spent += time.thread_time_ns() - started
        assert self.connection.replies == turns * GATHERED
        self.connection.replies = 0
        return spent / turns / GATHERED / 1000


def heartbeat() -> memoryview:
    out: Parts = []
    message = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    encode_request(API_BY_NAME["Heartbeat"], 4, 1, "me", message, out)
    return memoryview(b"".join(bytes(part) for part in out))[4:]  # type: ignore[arg-type]


def bench_workers(rounds: int, scale: float) -> None:
    frame = heartbeat()
    nodes = (Node(Worker), Node(MeasuringWorker))
    pairs = [
        tuple(node.microseconds(frame, times(TURNS, scale)) for node in nodes)
        for _ in range(rounds)
    ]
    plain = statistics.median(pair[0] for pair in pairs)
    measured = statistics.median(pair[1] for pair in pairs)
    more = statistics.median(pair[1] - pair[0] for pair in pairs)
    print(f"plain worker      {plain:6.2f} us a request")
    print(f"measuring worker  {measured:6.2f} us a request")
    print(f"difference        {more:6.2f} us a request")


def bench_render(rounds: int, scale: float) -> None:
    """Measure the rendering of many samples, which a node does in a thread."""
    families = Families()
    family = families.gauge("kafka_log_log_size", "Bytes.", "topic", "partition")
    count = times(SERIES, scale)
    for number in range(count):
        family.add(number, "topic", str(number))
    spent = []
    for _ in range(min(rounds, 5)):
        started = time.thread_time()
        text = render(families)
        spent.append(time.thread_time() - started)
        assert text.count(b"\nkafka_log_log_size{") == count
    print(f"rendering         {statistics.median(spent) / count * 1e6:6.2f} us a sample")


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each worker, their difference, and one for the text."""
    parser = parser_for("benchmarks.micro.bench_metrics", __doc__)
    add_effort(parser, ROUNDS)
    arguments = parser.parse_args(words)
    logging.getLogger("pykbroker.loop").setLevel(logging.ERROR)  # of a busy machine
    bench_workers(arguments.rounds, arguments.scale)
    bench_render(arguments.rounds, arguments.scale)


if __name__ == "__main__":
    main()
