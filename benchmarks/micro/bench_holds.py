"""Holds: how long a request with very many elements keeps a node from serving other requests.

    python -m benchmarks.micro.bench_holds [--elements N] [--apis TEXT ...]

A node in a process of its own is sent, for each API that it serves to clients and each array in the
API's request, first one request with one element in that array, which may be the first use of the
API, then one with N elements: names and ids that are mostly unknown, ascending numbers. A callback
of the node's event loop that is due every millisecond measures the time between its calls. A row
shows the time until the response (or the end of the connection) and the longest hold until then, in
milliseconds and in milliseconds of the process's CPU time, which other processes do not lengthen.
It then lists what held the loop for a millisecond or longer, each with its longest hold (for the
garbage collector: its longest pass, in CPU time).

The goal is 50 ms on an idle machine, whatever N is. The cost of an element depends on its meaning:
existing topics cost more than unknown ones, so this benchmark finds only loops that are not sliced
at all.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks.command_line import count, parser_for
from pykbroker.broker.handlers import make_routes
from pykbroker.broker.process_settings import settle_collector, switch_threads_soon
from pykbroker.broker.server import BrokerServer
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment
from pykbroker.protocol.api import Api, request_class
from pykbroker.protocol.headers import encode_request
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.schema import Field, all_messages

ELEMENTS = 20_000
TICK_S = 0.001
NAMES = frozenset({"Name", "Topic", "TopicName", "GroupId", "ResourceName", "MemberId", "Feature"})
USUAL = {
    "Acks": 1,
    "AllowAutoTopicCreation": False,
    "GroupId": "g",
    "TimeoutMs": 10_000,
    "ValidateOnly": True,
}
NUMBERS = frozenset({"Partition", "PartitionIndex", "PartitionId", "Index"})
PATIENCE_S = 120.0
# Left out: requests of other nodes, and what ends the node's membership.
NODES_ONLY = frozenset(
    {"BrokerRegistration", "BrokerHeartbeat", "UnregisterBroker", "ControllerRegistration"}
)

_SCHEMAS = {schema.name: schema for schema in all_messages()}


# --- requests -----------------------------------------------------------------------------------


def attacks(api: Api, elements: int) -> Iterator[tuple[str, Any]]:
    """Return (name of the array, request with so many elements in it) for each array of the
    request.
    """
    version = api.max_version
    for field in _SCHEMAS[f"{api.name}Request"].root.fields:
        if not field.is_array or version not in field.versions:
            continue
        for name, found in _arrays(api, field, elements):
            yield name, _request(api, field, found)


def _arrays(api: Api, field: Field, elements: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield (name, array) of this field with so many elements; and with one, its arrays long."""
    yield field.snake_name, _elements(api, field, elements)
    for inner in field.struct.fields if field.struct is not None else ():
        if inner.is_array and api.max_version in inner.versions:
            for name, found in _arrays(api, inner, elements):
                (outer,) = _elements(api, field, 1)
                setattr(outer, inner.snake_name, found)
                yield f"{field.snake_name}.{name}", [outer]


def _request(api: Api, field: Field, elements: list[Any]) -> Any:
    request = request_class(api.key)()
    for other in _SCHEMAS[f"{api.name}Request"].root.fields:
        if other.name in USUAL and api.max_version in other.versions:
            setattr(request, other.snake_name, USUAL[other.name])
    setattr(request, field.snake_name, elements)
    return request


def _elements(api: Api, field: Field, elements: int) -> list[Any]:
    return [_element(api, field, number) for number in range(elements)]


def _element(api: Api, field: Field, number: int) -> Any:
    if field.struct is None:
        if field.element_type == "string":
            return f"x{number}"
        if field.element_type == "uuid":
            return (number + 1).to_bytes(16, "big")
        return number % 100 if field.element_type == "int8" else number
    element = getattr(import_module(request_class(api.key).__module__), field.element_type)()
    for inner in field.struct.fields:
        if api.max_version not in inner.versions or inner.is_array:
            continue
        if inner.name in NAMES:
            setattr(element, inner.snake_name, f"x{number}")
        elif inner.name in NUMBERS:
            setattr(element, inner.snake_name, number)
    return element


# --- the node -----------------------------------------------------------------------------------


class Holds(NamedTuple):
    """The longest holds of an event loop in milliseconds; units: of those of at least 1 ms."""

    wall_ms: float
    cpu_ms: float
    collector_ms: float
    units: dict[str, float]


class Node:
    """A node in a process of its own, which reports what blocked its event loop."""

    def __init__(self, directory: str) -> None:
        command = [sys.executable, "-m", "benchmarks.micro.bench_holds", "--node", directory]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self.port = int(self._ask())

    def _ask(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def holds(self) -> Holds:
        """Return the longest holds since the last call."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Holds(*json.loads(self._ask()))

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Longest:
    """The longest time by a clock between two marks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._longest_s = 0.0
        self.begin()

    def begin(self) -> None:
        """Start the time until the next mark."""
        self._last_s = self._clock()

    def mark(self) -> None:
        """End the time since the last mark."""
        last_s = self._last_s
        self.begin()
        self._longest_s = max(self._longest_s, self._last_s - last_s)

    def take_ms(self) -> float:
        """Return the longest time since the last call, in milliseconds."""
        longest_s, self._longest_s = self._longest_s, 0.0
        return longest_s * 1000


async def serve(directory: str) -> None:
    """The node's process: a line on standard input asks for the holds, its end stops the node."""
    loop = asyncio.get_running_loop()
    switch_threads_soon()
    config = BrokerConfig.from_properties(standalone_properties(directory, port=0))
    server = BrokerServer(real_environment(loop), config)
    await in_asyncio(server.start())
    settle_collector()
    ended = asyncio.Event()
    wall = Longest(time.perf_counter)
    cpu = Longest(time.process_time)
    collector = Longest(time.thread_time)

    def tick() -> None:
        wall.mark()
        cpu.mark()
        loop.call_later(TICK_S, tick)

    def collecting(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            collector.begin()
        else:
            collector.mark()

    def answer() -> None:
        if not sys.stdin.readline():
            loop.remove_reader(sys.stdin.fileno())
            ended.set()
            return
        by_unit = server.environment.loop_time.by_unit
        units = {unit: times.longest_ns / 1e6 for unit, times in by_unit.items()}
        by_unit.clear()
        print(json.dumps([wall.take_ms(), cpu.take_ms(), collector.take_ms(), units]), flush=True)

    gc.callbacks.append(collecting)
    tick()
    loop.add_reader(sys.stdin.fileno(), answer)
    print(server.listeners[0].port, flush=True)
    await ended.wait()
    await in_asyncio(server.stop())


# --- rows ---------------------------------------------------------------------------------------


def ask(port: int, api: Api, message: Any) -> None:
    """Send a request and wait for its response, or for the end of the connection."""
    out: Parts = []
    encode_request(api, api.max_version, 1, "holds", message, out)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        client.sendall(join_parts(out))
        size = int.from_bytes(client.recv(4, socket.MSG_WAITALL), "big")
        while size and (found := client.recv(min(size, 1 << 20))):
            size -= len(found)


def main(words: Sequence[str] | None = None) -> None:
    """Print rows for each array of each API's request."""
    parser = parser_for("benchmarks.micro.bench_holds", __doc__)
    parser.add_argument(
        "--elements", type=count, default=ELEMENTS, help="number of elements in each array"
    )
    parser.add_argument(
        "--apis", nargs="+", help="test only the APIs whose names contain one of these texts"
    )
    parser.add_argument("--node", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    if arguments.node is not None:
        asyncio.run(serve(arguments.node))
        return
    directory = tempfile.mkdtemp(prefix="bench-holds-")
    try:
        node = Node(f"{directory}/data")
        try:
            print_rows(node, arguments.elements, arguments.apis)
        finally:
            node.stop()
    finally:
        shutil.rmtree(directory)


def print_rows(node: Node, elements: int, wanted: Sequence[str] | None) -> None:
    """Print two rows for each array of each selected API (None: of all): for one element, and for
    many.
    """
    for route in make_routes():
        api = route.api
        if not route.on_broker or api.name in NODES_ONLY:
            continue
        if wanted is not None and not any(text in api.name for text in wanted):
            continue
        for name, message in attacks(api, 1):
            print_row(node, f"{api.name} {name}, one element", api, message)
        for name, message in attacks(api, elements):
            print_row(node, f"{api.name} {name}", api, message)


def print_row(node: Node, title: str, api: Api, message: Any) -> None:
    """Send one request, and print what it held."""
    node.holds()
    started = time.perf_counter()
    ask(node.port, api, message)
    answered_ms = (time.perf_counter() - started) * 1000
    held = node.holds()
    units = held.units | {"collector": held.collector_ms}
    longest = sorted(units.items(), key=lambda unit: -unit[1])
    text = ", ".join(f"{unit} {ms:.0f}" for unit, ms in longest if ms >= 1)
    print(
        f"{title:50} answered {answered_ms:8.1f} ms, "
        f"held {held.wall_ms:7.2f} ms, CPU {held.cpu_ms:7.2f} ms  {text}",
        flush=True,
    )


if __name__ == "__main__":
    main()
