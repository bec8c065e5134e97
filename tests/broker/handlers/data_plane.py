"""A broker for tests of the data handlers: a real replica manager, no sockets, no loop.

A request is encoded and decoded in its version on the way in, and so is the answer on the way out:
a test sees what a client would see.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.broker.requests.cold_reads import ColdReads
from pykbroker.broker.requests.fetch_sessions import FetchSessions
from pykbroker.deferred import Deferred
from pykbroker.errors import KafkaError
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.registration import SECURITY_PROTOCOL_IDS
from pykbroker.metrics import Counters
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from pykbroker.protocol.parts_writer import AnyPart, Parts
from pykbroker.protocol.primitives import Message
from tests.replication.node import Node

LISTENER = "PLAINTEXT"


class Broker:
    """What handlers use of a BrokerServer."""

    def __init__(self, overrides: dict[str, str] | None = None, node_id: int = 1) -> None:
        self.node = Node(overrides, node_id)
        self.config = self.node.config
        self.counters = Counters()
        self.purgatory = self.node.purgatory
        self.replica_manager = self.node.manager
        self._next_session_id = 0
        self.fetch_sessions = FetchSessions(
            1000, self._session_id, lambda: self.replica_manager.follower_session()
        )
        self.log_manager = self.node.log_manager
        self.metadata = PublishedImage(self.node)
        self.producer_ids: Any = None
        self.validation = Checks()
        self.threads = Threads()
        self.cold_reads = ColdReads(self.threads, self.node.files, self.wake)
        self.wakes = 0
        self.breaths = 0

    def now_ms(self) -> int:
        return self.node.now_ms

    def wall_ms(self) -> int:
        return self.node.now_ms

    def wake(self) -> None:
        self.wakes += 1

    def breathe(self) -> None:
        self.breaths += 1

    def _session_id(self, first: int, end: int) -> int:
        self._next_session_id += 1
        return first + self._next_session_id

    def register(self, broker_id: int, host: str, port: int, rack: str | None = None) -> None:
        """Make another broker known, unfenced."""
        endpoint = BrokerEndpoint(
            name=LISTENER,
            host=host,
            port=port,
            security_protocol=SECURITY_PROTOCOL_IDS["PLAINTEXT"],
        )
        self.node.apply(
            RegisterBrokerRecord(
                broker_id=broker_id,
                broker_epoch=1,
                incarnation_id=bytes(16),
                end_points=[endpoint],
                rack=rack,
                fenced=False,
            )
        )


class PublishedImage:
    """The MetadataView of a test: it shows what the replica manager has taken in."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def image(self) -> MetadataImage:
        return self._node.manager.image


class Checks:
    """The ValidationPool of a test: nothing is checked before it says so."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.waiting: list[tuple[list[Any], Any]] = []

    def check(self, work: list[Any], done: Any) -> None:
        self.waiting.append((work, done))

    def finish(self) -> None:
        """The threads are done with everything."""
        waiting, self.waiting = self.waiting, []
        for work, done in waiting:
            done([each() for each in work])


class Threads:
    """Threads of a test: nothing is done before `finish`."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], object], Deferred]] = []

    def run(self, job: Callable[[], object]) -> Deferred:
        outcome = Deferred()
        self.waiting.append((job, outcome))
        return outcome

    def close(self) -> None:
        self.waiting.clear()

    def finish(self) -> int:
        """Do all, and what that asks for; how many calls it were."""
        done = 0
        while self.waiting:
            job, outcome = self.waiting.pop(0)
            result: object
            try:
                result = job()
            except OSError as failure:
                result = failure
            outcome.resolve(result)
            done += 1
        return done


class Caller:
    """The connection of a request."""

    def __init__(self) -> None:
        self.closed = False
        self.listener = SimpleNamespace(name=LISTENER)
        self.on_close: Callable[[], None] | None = None

    def call_on_close(self, callback: Callable[[], None] | None) -> None:
        self.on_close = callback


class Call:
    """One request in flight at a handler."""

    def __init__(
        self,
        broker: Broker,
        handler: Handler,
        message: Message,
        version: int,
        client_id: str | None = "test",
    ) -> None:
        self._handler = handler
        self._version = version
        self.request: Any = SimpleNamespace(
            frame=encoded(message, version),
            message=through_the_wire(message, version),
            api_version=version,
            client_id=client_id,
            received_ms=broker.node.now_ms,
            listener_name=LISTENER,
            client_address="127.0.0.1",
            connection=Caller(),
        )
        self.outcome: Any
        try:
            self.outcome = handler.handle(broker, self.request)  # type: ignore[arg-type]
            while isinstance(self.outcome, InSlices):
                self.outcome = self.outcome.job()
        except KafkaError as refused:
            self.outcome = refused

    @property
    def is_waiting(self) -> bool:
        return isinstance(self.outcome, Deferred) and not self.outcome.done

    @property
    def answer(self) -> Any:
        """The response as the client reads it, None, or CloseConnection."""
        outcome = self.outcome
        if isinstance(outcome, Deferred):
            assert outcome.done, "no answer yet"
            outcome = outcome.value
            while isinstance(outcome, InSlices):
                outcome = outcome.job()
        if isinstance(outcome, KafkaError):
            outcome = self._handler.error_reply(self.request, outcome.code, outcome.message)
        if outcome is None or isinstance(outcome, CloseConnection):
            return outcome
        return through_the_wire(outcome, self._version)


def error_reply(handler: Handler, request: Any, code: int, message: str | None) -> Any:
    """The reply of an API whose whole request failed."""
    return handler.error_reply(request, code, message)


def encoded(message: Message, version: int) -> bytearray:
    parts: Parts = []
    message.encode(parts, version)
    return bytearray().join(bytes_of(part) for part in parts)


def through_the_wire(message: Message, version: int) -> Any:
    """Encode, join, decode."""
    frame = encoded(message, version)
    decoded, end = type(message).decode(memoryview(frame), 0, version)
    assert end == len(frame)
    return decoded


def bytes_of(part: AnyPart) -> bytes:
    return bytes(part) if isinstance(part, (bytes, bytearray, memoryview)) else part.read()  # type: ignore[attr-defined]
