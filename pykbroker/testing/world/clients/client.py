"""The base of scripted clients: a machine of its own, the connections of the broker's own client
code, and a running coroutine.

Most requests are sent in a version that the client draws: some clients use the newest version, some
the oldest that fits the request, some any of these. An exception that leaves the coroutine makes
the world fail.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pykbroker.deferred import Deferred, spawn
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.client_pool import ClientPool, ClientSettings
from pykbroker.protocol.api import API_BY_NAME
from pykbroker.protocol.primitives import Message
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

REQUEST_TIMEOUT_MS = 2_000
SETUP_TIMEOUT_MS = 2_500
GRACE_US = 4_000_000
"""After the last fault requests, retries and connections of before may still fail for so long."""
PATIENCE_US = 45_000_000
"""After that nothing may hang any more. A node that lost its power with a request in its socket
answers nothing: others ask again when request.timeout.ms is over, or the time to set a connection
up, which is 30 s."""

# What a client of Kafka retries after: the node is going, coming, or busy.
RETRIABLE = frozenset(
    (
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    )
)


UNEXPECTED_WHEN_CALM = frozenset((ErrorCode.NETWORK_EXCEPTION, ErrorCode.REQUEST_TIMED_OUT))


class Client(ABC):
    """The base class of scripted clients. `bootstrap` are the nodes that it knows at first."""

    def __init__(self, world: World, name: str, bootstrap: Sequence[Peer]) -> None:
        self.world = world
        self.name = name
        self.bootstrap = list(bootstrap)
        self.machine = world.add_machine(name)
        self.environment = self.machine.boot()
        self.dice = world.dice(f"client {name}")
        self.pool = ClientPool(
            self.environment,
            ClientSettings(
                name, setup_timeout_ms=SETUP_TIMEOUT_MS, setup_timeout_max_ms=SETUP_TIMEOUT_MS
            ),
        )
        self.is_stopping = False
        self.is_done = False
        self._broken: set[str] = set()
        self._habit = self.dice.choice(("newest", "oldest", "any"))

    # ---------------------------------------------------------------- running

    def start(self) -> None:
        """Start the script after a short pause; if it ends with an exception, the world fails."""
        spawn(self._run()).on_resolved(self._ended)

    async def _run(self) -> None:
        await self.pause(0, 50)
        await self.script()

    @abstractmethod
    def script(self) -> Coroutine[Deferred, Any, None]:
        """What this client does; if it has no end of its own, it looks at `is_stopping`."""

    def _ended(self, outcome: object) -> None:
        self.is_done = True
        self.note("has ended")
        if isinstance(outcome, BaseException):
            self.world.fail(outcome)

    def stop(self) -> None:
        """Ask the script to end."""
        self.is_stopping = True

    def note(self, text: str) -> None:
        """Add a line to the timeline."""
        self.world.timeline.note(self.name, text)

    def violated(self, text: str) -> Violation:
        """Return an exception to raise: this client saw what must not be."""
        return Violation(f"{self.name}: {text}")

    async def pause(self, least_ms: int, most_ms: int) -> None:
        """Do nothing for a random time between these, in milliseconds."""
        await self.environment.scheduler.sleep(self.dice.randint(least_ms, most_ms))

    # ---------------------------------------------------------------- requests

    def version_of(self, api_name: str, lowest: int = 0) -> int:
        """Return a version of an API, of those from `lowest` on, as is this client's habit."""
        api = API_BY_NAME[api_name]
        least = max(lowest, api.min_version)
        if self._habit == "newest":
            return api.max_version
        return least if self._habit == "oldest" else self.dice.randint(least, api.max_version)

    def any_node(self) -> Peer:
        """One of the nodes that this client knows."""
        return self.dice.choice(self.bootstrap)

    def is_unexpected(self, failure: KafkaError, connection: str) -> bool:
        """Return whether a request must not fail so once the faults are over.

        The first NETWORK_EXCEPTION of a connection is excused: it may have broken before, and its
        next request finds out.
        """
        if failure.code == ErrorCode.NETWORK_EXCEPTION and connection not in self._broken:
            self._broken.add(connection)
            return False
        return failure.code in UNEXPECTED_WHEN_CALM

    async def ask(
        self,
        message: Message,
        version: int,
        *,
        peer: Peer | None = None,
        timeout_ms: int = REQUEST_TIMEOUT_MS,
        purpose: str = "requests",
    ) -> Any:
        """Send a request to `peer` (None: any node), and return the response; its error codes are
        for the caller.

        Raises KafkaError if there is no response: the node may have handled the request or not.
        Raises Violation if no fault explains that, or for UNSUPPORTED_VERSION.
        """
        deadline_ms = self.environment.clock.now_ms() + timeout_ms
        peer = self.any_node() if peer is None else peer
        sent = self.pool.send(
            peer,
            message,
            deadline_ms,
            purpose=purpose,
            max_version=version,
        )
        # A node of a quorum serves late if the one that leads lost its power: it may have sent its
        # registration to that one's former life (PATIENCE_US). The world waits for it, clients ask.
        is_calm = self.world.is_calm(GRACE_US) and peer.host in self.world.serving
        try:
            return await sent
        except KafkaError as failure:
            connection = f"{purpose} {peer.node_id}"
            if is_calm and not self.is_stopping and self.is_unexpected(failure, connection):
                raise self.violated(
                    f"no answer to {type(message).__name__} although no faults are active: "
                    f"{failure.message}"
                ) from failure
            if failure.code == ErrorCode.UNSUPPORTED_VERSION:
                raise self.violated(f"{type(message).__name__}: {failure.message}") from failure
            raise

    async def ask_again(
        self, attempt: Callable[[], Coroutine[Deferred, Any, Any]], tries: int = 60
    ) -> Any:
        """Repeat a request that changes nothing, or may be repeated, until `attempt` returns.

        Returns None when the client is to stop, or `tries` are over. Raises a KafkaError of
        `attempt` that is not retriable.
        """
        for _ in range(tries):
            try:
                return await attempt()
            except KafkaError as failure:
                if failure.code not in RETRIABLE:
                    raise
            if self.is_stopping:
                return None
            await self.pause(20, 200)
        return None
