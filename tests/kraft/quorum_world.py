"""Several nodes' metadata in one process: real drivers, disks in memory, one virtual time.

Requests between nodes are encoded and decoded in the highest version of the receiver, take a while,
and can be lost. What is checked after every event stands in `check`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.handlers import make_routes
from pykbroker.config import BrokerConfig
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller_channel_driver import request_api
from pykbroker.kraft.node_driver import KraftNodeDriver
from pykbroker.kraft.storage_format import ensure_storage
from pykbroker.protocol.api import request_class, response_class
from pykbroker.protocol.messages.controller_registration_request import (
    ControllerRegistrationRequest,
)
from pykbroker.protocol.primitives import EncodeError
from pykbroker.purgatory import Purgatory
from pykbroker.testing.world.memory_files import MemoryFiles, SimulatedCrash
from pykbroker.types import Peer
from tests.kraft.node_world import NOW_MS, ManualScheduler

PORT = 9000


def over_the_wire(message: Any, cls: Any, version: int) -> Any:
    """As the other side reads it."""
    out: list[Any] = []
    message.encode(out, version)
    payload = b"".join(
        bytes(part) if isinstance(part, (bytes, bytearray, memoryview)) else part.read()
        for part in out
    )
    decoded, end = cls.decode(memoryview(payload), 0, version)
    assert end == len(payload)
    return decoded


class QuorumNode:
    """One node; `up` while its process runs."""

    def __init__(self, world: QuorumWorld, node_id: int, roles: str) -> None:
        self.world = world
        self.node_id = node_id
        self.files = MemoryFiles()
        self.dice = random.Random(f"{world.seed} {node_id}")
        self.up = False
        self.fatal: list[BaseException] = []
        self.applied: list[int] = []
        properties = {
            "node.id": str(node_id),
            "process.roles": roles,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": world.voters,
            "log.dirs": "/disk",
        }
        listeners = []
        if "broker" in roles:
            listeners.append(f"PLAINTEXT://127.0.0.1:{PORT + 100 + node_id}")
        if "controller" in roles:
            listeners.append(f"CONTROLLER://127.0.0.1:{PORT + node_id}")
        properties["listeners"] = ",".join(listeners)
        self.config = BrokerConfig.from_properties(properties | world.overrides)
        self.driver: KraftNodeDriver
        self.purgatory: Purgatory
        self.life = 0

    def start(self) -> None:
        world = self.world
        self.up = True
        self.life += 1
        self.files.now_ms = world.now_ms
        draw: Any = self.dice
        draw.new_uuid = lambda: self.dice.randbytes(15) + b"\x01"
        clock: Any = SimpleNamespace(now_ms=lambda: world.now_ms)
        scheduler: Any = _Life(world.scheduler, self, self.life)
        nowhere: Any = None
        storage = ensure_storage(
            self.files,
            self.config,
            now_ms=world.now_ms,
            new_uuid=draw.new_uuid,
            new_cluster_id=world.cluster_id,
        )
        self.purgatory = Purgatory(world.now_ms)
        self.driver = KraftNodeDriver(
            config=self.config,
            storage=storage,
            environment=Environment(self.files, clock, draw, scheduler, scheduler, nowhere),
            on_fatal=self.fatal.append,
            send=self.send,
            purgatory=self.purgatory,
        )
        self.driver.open()
        self.applied = []
        self.driver.publish_to([self])

    def apply(self, delta: Any, image: Any) -> None:
        """A publisher: what this node has seen committed."""
        self.world.on_image(self, image)

    def kill(self) -> None:
        """kill -9 and a power failure: what was not synced may be gone."""
        self.up = False
        self.files.crash(self.dice)

    def send(self, peer: Peer, message: Any, deadline_ms: int, purpose: str) -> Deferred:
        return self.world.carry(self, peer, message, deadline_ms)

    @property
    def raft(self) -> Any:
        return self.driver.raft.raft

    def handle(self, message: Any, version: int) -> Any:
        """As the handlers of a controller listener do."""
        api = request_api(message)
        route = next(at for at in make_routes() if at.api is api and at.on_controller)
        route.load()
        connection = SimpleNamespace(listener=SimpleNamespace(is_controller=True))
        request: Any = SimpleNamespace(
            message=message,
            api_version=version,
            received_ms=self.world.now_ms,
            connection=connection,
            client_id="",
            principal="User:ANONYMOUS",
            client_address="127.0.0.1",
        )
        services: Any = SimpleNamespace(
            controller=self.driver.channel,
            quorum=self.driver.service,
            raft=self.driver.raft.raft,
            routes=make_routes(),
        )
        try:
            outcome = route.handle(services, request)
        except KafkaError as refusal:
            outcome = refusal  # type: ignore[assignment]
        return (
            outcome,
            lambda value: (
                route.error_reply(request, value.code, value.message)
                if isinstance(value, KafkaError)
                else value
            ),
        )


class _Life:
    """The scheduler and threads of one life of a node: nothing of it happens after its death."""

    def __init__(self, scheduler: ManualScheduler, node: QuorumNode, life: int) -> None:
        self._scheduler = scheduler
        self._node = node
        self._life = life
        self.processors = 1

    def _alive(self) -> bool:
        return self._node.up and self._node.life == self._life

    def call_later(self, delay_ms: float, callback: Callable[..., object], *args: object) -> Any:
        def run() -> None:
            if self._alive():
                callback(*args)

        return self._scheduler.call_later(delay_ms, run)

    def call_soon(self, callback: Callable[..., object], *args: object) -> Any:
        return self.call_later(0, callback, *args)

    def sleep(self, delay_ms: float) -> Deferred:
        deferred = Deferred()
        self.call_later(delay_ms, deferred.resolve, None)
        return deferred

    def threads(self, name: str, count: int = 1) -> Any:
        return self

    def run(self, job: Callable[[], object]) -> Deferred:
        """A disk takes a while, and a node may die before it is done."""
        deferred = Deferred()

        def work() -> None:
            try:
                outcome: object = job()
            except SimulatedCrash:
                raise
            except BaseException as failure:
                outcome = failure
            deferred.resolve(outcome)

        self.call_later(self._node.world.dice.randint(0, 8), work)
        return deferred

    def close(self) -> None:
        return None


class QuorumWorld:
    def __init__(self, voters: int, *, observers: int = 0, seed: int = 0, **overrides: str) -> None:
        self.seed = seed
        self.dice = random.Random(seed)
        self.overrides = {key.replace("_", "."): value for key, value in overrides.items()}
        self.cluster_id = "AAAAAAAAAAAAAAAAAAAAQA"
        ids = range(1, voters + 1)
        self.voters = ",".join(f"{node_id}@127.0.0.1:{PORT + node_id}" for node_id in ids)
        files = MemoryFiles()
        self.scheduler = ManualScheduler(NOW_MS, files)
        self.cut: set[tuple[int, int]] = set()  # (from, to): nothing arrives
        self.loss = 0.0
        self.versions: dict[tuple[int, str], int] = {}  # (node, API): the highest that it has
        self.leaders: dict[int, int] = {}
        self.committed: list[tuple[int, str]] = []
        self.images: dict[int, Any] = {}
        self.nodes = {node_id: QuorumNode(self, node_id, "controller") for node_id in ids}
        for node_id in range(voters + 1, voters + observers + 1):
            self.nodes[node_id] = QuorumNode(self, node_id, "broker")
        for node in self.nodes.values():
            node.start()

    @property
    def now_ms(self) -> int:
        return self.scheduler.now_ms

    # ---- the network

    def carry(self, sender: QuorumNode, peer: Peer, message: Any, deadline_ms: int) -> Deferred:
        reply = Deferred()
        life = sender.life
        api = request_api(message)
        receiver = self.nodes[peer.port - PORT]
        version = self.versions.get((receiver.node_id, api.name), api.max_version)

        def finish(value: Any) -> None:
            if not reply.done and sender.up and sender.life == life:
                reply.resolve(value)

        def fail(code: ErrorCode) -> None:
            finish(KafkaError(code))

        left_ms = max(deadline_ms - self.now_ms, 0)
        self.scheduler.call_later(left_ms, fail, ErrorCode.REQUEST_TIMED_OUT)
        try:
            sent = over_the_wire(message, request_class(api.key), version)
        except EncodeError:
            fail(ErrorCode.UNSUPPORTED_VERSION)
            return reply

        def deliver() -> None:
            if not receiver.up:
                fail(ErrorCode.NETWORK_EXCEPTION)
                return
            if self._is_lost(sender, receiver):
                return
            outcome, to_message = receiver.handle(sent, version)

            def answer(value: Any) -> None:
                back = over_the_wire(to_message(value), response_class(api.key), version)
                if receiver.up and not self._is_lost(receiver, sender):
                    self.scheduler.call_later(self.dice.randint(1, 6), finish, back)

            if isinstance(outcome, Deferred):
                outcome.on_resolved(answer)
            else:
                answer(outcome)

        self.scheduler.call_later(self.dice.randint(1, 6), deliver)
        return reply

    def _is_lost(self, sender: QuorumNode, receiver: QuorumNode) -> bool:
        cut = (sender.node_id, receiver.node_id) in self.cut
        return cut or self.dice.random() < self.loss

    # ---- time and what is checked

    def advance(self, duration_ms: int, step_ms: int = 10) -> None:
        end = self.now_ms + duration_ms
        while self.now_ms < end:
            self.scheduler.advance(min(step_ms, end - self.now_ms))
            for node in self.nodes.values():
                if node.up:
                    node.files.now_ms = self.now_ms
                    node.purgatory.advance(self.now_ms)
            self.check()

    def check(self) -> None:
        for node in self.nodes.values():
            assert not node.fatal, node.fatal
            if node.up and node.raft.is_leader:
                leader = self.leaders.setdefault(node.raft.epoch, node.node_id)
                assert leader == node.node_id, f"two leaders in epoch {node.raft.epoch}"

    def on_image(self, node: QuorumNode, image: Any) -> None:
        """Every node's image at an offset is the same: what was committed never changes."""
        known = self.images.get(image.offset)
        if known is None:
            self.images[image.offset] = image
        else:
            assert image == known, f"node {node.node_id} has another image at {image.offset}"

    # ---- what tests do

    def leader(self) -> QuorumNode:
        """Wait for an active controller."""
        for _ in range(2_000):
            for node in self.nodes.values():
                controller = node.driver.controller
                if node.up and controller is not None and controller.is_active:
                    return node
            self.advance(10)
        raise AssertionError("no controller became active")

    def change(self, via: QuorumNode, number: int, timeout_ms: int = 20_000) -> Deferred:
        """Register a controller that there is not: one record that no other change writes."""
        request = ControllerRegistrationRequest(
            controller_id=1000 + number, incarnation_id=number.to_bytes(16, "big")
        )
        return via.driver.channel.send(request, self.now_ms + timeout_ms)

    def has(self, node: QuorumNode, number: int) -> bool:
        """Has this node seen the change committed?"""
        return 1000 + number in node.driver.image.controllers

    def agree(self) -> None:
        """Wait until all nodes have read equally far, and know the same then."""
        for _ in range(1_000):
            images = [node.driver.image for node in self.nodes.values() if node.up]
            if len({image.offset for image in images}) == 1:
                assert all(image == images[0] for image in images)
                return
            self.advance(10)
        raise AssertionError("the nodes never read equally far")

    def settle(self, deferred: Deferred, patience_ms: int = 60_000) -> Any:
        for _ in range(patience_ms // 10):
            if deferred.done:
                return deferred.value
            self.advance(10)
        raise AssertionError("it never settled")
