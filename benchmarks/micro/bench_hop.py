"""Hop: the cost of the network alone for a request: frame in, channel, turn, reply out.

A server in this process answers with small replies; a forked client keeps DEPTH requests in flight
on each of its connections. No log, no decoding of bodies: a floor under the other figures.

    python -m benchmarks.micro.bench_hop [--seconds N]

The client shares the cores with the server.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.command_line import amount, parser_for
from pykbroker.environment.real.world import real_environment
from pykbroker.network.request import Request
from pykbroker.network.socket_server import SocketServer

SECONDS = 2.0
FRAME = struct.pack(">ihhih", 210, 3, 0, 7, -1) + bytes(200)
REPLY = struct.pack(">ii", 44, 7) + bytes(40)
SHAPES = ((1, 1), (50, 1), (8, 20))


def config() -> Any:
    """Return the configuration that the network reads."""
    many = 2**31 - 1
    endpoint = SimpleNamespace(
        listener_name="PLAINTEXT", host="127.0.0.1", port=0, security_protocol="PLAINTEXT"
    )
    return SimpleNamespace(
        endpoints=(endpoint,),
        controller_endpoints=(),
        is_controller=False,
        inter_broker_listener="PLAINTEXT",
        queued_max_requests=500,
        socket_request_max_bytes=100 * 1024 * 1024,
        connections_max_idle_ms=600_000,
        max_connections=many,
        max_connections_per_ip=many,
        max_connections_per_ip_by_address={},
        socket_listen_backlog_size=50,
        socket_receive_buffer_bytes=102400,
        socket_send_buffer_bytes=102400,
        socket_overrides=lambda name: SimpleNamespace(max_connections=many),
    )


def client(port: int, connections: int, depth: int) -> None:
    """Send and receive until the server closes."""
    socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    for sock in socks:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(FRAME * depth)
    left = [0] * connections
    try:
        while True:
            for at, sock in enumerate(socks):
                chunk = sock.recv(65536)
                if not chunk:
                    return
                received = left[at] + len(chunk)
                left[at] = received % len(REPLY)
                sock.sendall(FRAME * (received // len(REPLY)))
    except OSError:
        return


def measure(make_loop: Any, connections: int, depth: int, duration: float) -> tuple[float, float]:
    """Return (requests per second, microseconds of our CPU per request)."""
    loop = make_loop()
    environment = real_environment(loop)
    server = SocketServer(environment, config(), environment.background.threads("disk"))
    channel = server.channel
    served = 0

    def turn() -> None:
        nonlocal served
        queue = channel.queue
        while queue:
            for _ in range(len(queue)):
                served += 1
                request = queue.popleft()
                assert isinstance(request, Request)
                request.connection.reply(bytearray(REPLY))
        channel.flush_connections()
        channel.turn_finished()

    channel.attach_worker(turn)
    server.bind()
    child = os.fork()
    if not child:
        try:
            client(server.listeners[0].port, connections, depth)
        finally:
            os._exit(0)
    server.start(controllers=False)
    loop.call_later(duration, loop.stop)
    before, cpu = time.perf_counter(), time.process_time()
    loop.run_forever()
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    server.stop()
    loop.close()
    os.waitpid(child, 0)
    assert served > connections * depth, "the clients got no answers"
    return served / seconds, cpu / served * 1e6


def main(words: Sequence[str] | None = None) -> None:
    """Print one row for each loop and shape."""
    parser = parser_for("benchmarks.micro.bench_hop", __doc__)
    parser.add_argument(
        "--seconds", type=amount, default=SECONDS, help="duration of each row (default %(default)s)"
    )
    options = parser.parse_args(words)
    loops: list[tuple[str, Any]] = [("asyncio", asyncio.SelectorEventLoop)]
    try:
        import uvloop

        loops.append(("uvloop", uvloop.new_event_loop))
    except ImportError:
        print("uvloop is not here")
    for name, make_loop in loops:
        for connections, depth in SHAPES:
            rate, micros = measure(make_loop, connections, depth, options.seconds)
            print(
                f"{name:8} {connections:3} connections, {depth:2} in flight: "
                f"{rate:9,.0f} requests/s, {micros:5.1f} us of CPU each"
            )


if __name__ == "__main__":
    main()
