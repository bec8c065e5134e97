"""Compare prepared requests with the general path, over random lives of two nodes.

    python -m tests.harness.equal_answers [--requests N] [--seed N] [--steps N]

One node prepares for requests that resemble earlier ones (`broker/prepared/`), the other never
does. Both receive the same bytes on real connections over simulated sockets, and the same events
between them: settings, leaders and topics change, followers fetch, time passes, disks fail. After
every step, the bytes sent to each client, the closed connections, the counters and the ends of the
logs must be equal; after the life, so must the bytes of the logs.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections import Counter, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import Route, make_routes
from pykbroker.broker.requests.fetch_sessions import FetchSessions
from pykbroker.broker.requests.session_shard import SHARDS
from pykbroker.broker.requests.worker import Worker
from pykbroker.environment.loop_time import LoopTime
from pykbroker.environment.slices import InOneGo
from pykbroker.network.connection import Connection
from pykbroker.network.connection_resources import ConnectionResources
from pykbroker.network.peer_log import PeerLog
from pykbroker.network.request import Request
from pykbroker.network.request_channel import RequestChannel
from tests.broker.handlers.data_plane import LISTENER, Threads
from tests.harness.asked_node import AskedNode
from tests.harness.random_clients import Clients, happen


class GeneralWorker(Worker):
    """A worker that prepares nothing."""

    __slots__ = ()

    def _remember(self, request: Request, route: Route) -> None:
        """The general path serves every request."""


class PreparingWorker(Worker):
    """The real one, which counts what it leaves to the general path."""

    __slots__ = ("general",)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.general: Counter[str] = Counter()

    def _serve(self, request: Request) -> None:
        self.general[request.api.name] += not request.connection.closed
        super()._serve(request)


class Socket:
    """The node's end of a connection: the test puts bytes in and takes bytes out."""

    def __init__(self) -> None:
        self.incoming: deque[bytes] = deque()
        self.sent = bytearray()
        self.is_closed = False

    def recv(self, size: int) -> bytes:
        if not self.incoming:
            raise BlockingIOError
        found = self.incoming.popleft()
        if len(found) > size:
            self.incoming.appendleft(found[size:])
        return found[:size]

    def recv_into(self, buffer: memoryview) -> int:
        found = self.recv(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def send(self, payload: bytes, flags: int = 0) -> int:
        self.sent += payload
        return len(payload)

    def sendmsg(self, parts: list[bytes], *rest: object) -> int:
        return self.send(b"".join(parts))

    def close(self) -> None:
        self.is_closed = True


class Transport:
    """Readiness is the test's to tell."""

    more_follows = 0

    def __init__(self) -> None:
        self.readers: dict[Socket, Callable[[], None]] = {}

    def add_reader(self, sock: Socket, ready: Callable[[], None]) -> None:
        self.readers[sock] = ready

    def remove_reader(self, sock: Socket) -> None:
        self.readers.pop(sock, None)

    def send_file(self, sock: Socket, piece: Any, position: int, size: int) -> int:
        return sock.send(piece.source.pread(size, position))


class Side:
    """One of the two nodes, its clients' sockets and its event loop."""

    def __init__(self, worker: type[Worker]) -> None:
        self.broker = broker = AskedNode()
        self.soon: deque[Callable[[], None]] = deque()
        self.halted: list[BaseException] = []
        self.prepared = 0
        clock = SimpleNamespace(
            monotonic_ns=lambda: broker.node.now_ms * 1_000_000, wall_ms=broker.wall_ms
        )
        broker.environment = SimpleNamespace(
            clock=clock,
            loop_time=LoopTime(),
            background=SimpleNamespace(threads=lambda name: Threads()),
            slices=InOneGo(),
        )
        # So few that there is not always room, and that long unused ones are evicted.
        broker.fetch_sessions = FetchSessions(
            SHARDS, broker._session_id, broker.replica_manager.follower_session
        )
        broker.routes = make_routes()  # type: ignore[attr-defined]
        scheduler: Any = SimpleNamespace(call_soon=self.soon.append)
        self.channel = RequestChannel(scheduler, 500)
        broker.wake = self.channel.wake  # type: ignore[method-assign]
        services: Any = broker
        self.worker = worker(
            services, self.channel, turn_ended=lambda: None, halt=self.halted.append
        )
        self.worker.serve_brokers(services, self._end_round)
        self.transport = Transport()
        self._resources: Any = ConnectionResources(
            transport=self.transport,  # type: ignore[arg-type]
            clock=clock,
            channel=self.channel,
            cold_reads=Threads(),
            counters=broker.counters,
            peer_log=PeerLog(),
            max_request_bytes=1 << 20,
        )
        self.sockets: dict[int, Socket] = {}
        self.connections: dict[int, Connection] = {}

    def _end_round(self) -> None:
        while self.broker.replica_manager.end_turn(self.broker.node.now_ms):
            pass

    def connect(self, number: int) -> None:
        """A client comes, or comes again."""
        listener: Any = SimpleNamespace(name=LISTENER, is_controller=False)
        sock: Any = Socket()
        self.sockets[number] = sock
        self.connections[number] = Connection(
            self._resources, listener, sock, "127.0.0.1", number, lambda connection: None
        )

    def receive(self, number: int, content: bytes) -> None:
        """Bytes of a client are there; what is read of them comes with the next turn."""
        sock = self.sockets[number]
        sock.incoming.append(content)

    def run(self) -> None:
        """Let the node do all that there is to do."""
        while True:
            ready = [sock for sock in self.transport.readers if sock.incoming]
            for sock in ready:
                self.transport.readers[sock]()
            self.broker.advance(0)
            if not ready and not self.soon:
                return
            while self.soon:
                self.soon.popleft()()

    def shown(self) -> dict[str, Any]:
        """What must be equal on both sides."""
        counters = self.broker.counters.snapshot()
        partitions = sorted(self.broker.replica_manager.partitions(), key=str)
        return {
            "halted": self.halted,
            "sent": {
                number: bytes(sock.sent)
                for number, sock in self.sockets.items()
                if not sock.is_closed
            },
            "closed": {number: sock.is_closed for number, sock in self.sockets.items()},
            "counters": counters,
            "requests": {
                route.api.name: route.request_count
                for route in self.broker.routes  # type: ignore[attr-defined]
            },
            "logs": [
                (str(p.topic_partition), p.log.next_offset, p.log.log_end_offset, p.high_watermark)
                for p in partitions
            ],
            "followers": [
                (
                    (str(p.topic_partition), p.isr.members, f.log_end_offset, f.log_start_offset),
                    (f.caught_up_ms, f.broker_epoch, f.is_idle),
                )
                for p in partitions
                for f in p.followers.values()
            ],
            "sessions": (len(self.broker.fetch_sessions), len(self.broker.purgatory)),
        }

    def logs(self) -> dict[str, bytes]:
        """The bytes of all log files."""
        files = self.broker.node.files
        return {
            f"{segment.file.path}": files.read_file(segment.file.path)[: segment.size]
            for p in self.broker.replica_manager.partitions()
            for segment in p.log.segments
            if p.hosted
        }


def live(seed: int, steps: int, served: Counter[str]) -> int:
    """One life; how many requests it had. AssertionError when the sides differ."""
    chance = random.Random(seed)
    sides = [Side(PreparingWorker), Side(GeneralWorker)]
    clients = Clients(chance)
    for side in sides:
        clients.prepare_node(side.broker.node)
        for number in range(clients.count):
            side.connect(number)
        clients.member = side.broker.member
    for step in range(steps):
        event = happen(chance) if chance.random() < 0.2 else None
        quiet = not sides[0].broker.purgatory and sides[0].broker.node.files.fail is None
        connections = sides[1].connections
        waiting = {number for number, each in connections.items() if each.in_flight}
        sent = [] if event else clients.requests(quiet, waiting)
        for side in sides:
            if event is not None:
                event(side.broker)
                clients.member = side.broker.member
            for number, frames in sent:
                if side.sockets[number].is_closed:
                    side.connect(number)
                side.receive(number, frames)
            side.run()
        one, other = (side.shown() for side in sides)
        for name, value in one.items():
            assert value == other[name], f"seed {seed}, step {step}: {name} differ"
        for number, sock in sides[0].sockets.items():
            # Who is closed for a bad frame may lose answers that were due at the end of the turn.
            pair = sorted((bytes(sock.sent), bytes(sides[1].sockets[number].sent)), key=len)
            assert pair[1].startswith(pair[0]), f"seed {seed}, step {step}: sent differ"
        for side in sides:
            for number, sock in side.sockets.items():
                if not side.broker.node.files.fail:
                    clients.note(number, bytes(sock.sent))
                sock.sent.clear()
    one_log, other_log = (side.logs() for side in sides)
    assert one_log == other_log, f"seed {seed}: the logs differ"
    worker = sides[0].worker
    assert isinstance(worker, PreparingWorker)
    for route in sides[0].broker.routes:  # type: ignore[attr-defined]
        prepared = route.request_count - worker.general[route.api.name]
        if prepared > 0 and route.on_broker:
            served[route.api.name] += prepared
    return clients.sent


def main(words: list[str] | None = None) -> int:
    """Run lives until enough requests were served; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.harness.equal_answers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, default, text in (
        ("requests", 10_000, "stop after the life in which this many requests were served"),
        ("seed", 1, "seed of the first life"),
        ("steps", 120, "number of steps of a life"),
    ):
        parser.add_argument(
            f"--{name}", type=int, default=default, help=f"{text} (default %(default)s)"
        )
    options = parser.parse_args(words)
    logging.disable()  # of connections that are closed for what they send
    served: Counter[str] = Counter()
    total = lives = 0
    while total < options.requests:
        total += live(options.seed + lives, options.steps, served)
        lives += 1
    print(f"{total} requests in {lives} lives were answered alike; prepared: {dict(served)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
