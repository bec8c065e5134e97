"""A node of a world: the real BrokerServer on a simulated machine, started and ended by the world.

    DOWN      no process
    STARTING  the process runs, but does not serve yet
    UP        it serves
    STOPPING  it shuts down cleanly

`on_ended(node, is_power)` is called before the logs of the process are forgotten, `on_up(node)`
when it serves.
A process that ends by itself (`follow_fatal`) without a fault that explains it is a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

from pykbroker.config import BrokerConfig
from pykbroker.deferred import spawn
from pykbroker.testing.world.world import Violation, World
from pykbroker.types import Peer

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.image import MetadataImage

PORT = 9092
CONTROLLER_PORT = 9093
DATA_DIRECTORY = "/data"


class NodeState(Enum):
    """The states of a node of a world."""

    DOWN = auto()
    STARTING = auto()
    UP = auto()
    STOPPING = auto()


def node_address(node_id: int) -> str:
    """The host that a node runs on."""
    return f"node-{node_id}"


class NodeRule(Protocol):
    """A rule that holds for a node after every event of its process."""

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """Raise Violation if it does not hold now. `server` is `Node.serving`."""


class ImageRule(Protocol):
    """A rule that holds for a node that serves, whenever its metadata has changed."""

    def check_image(self, node: Node, server: BrokerServer, image: MetadataImage) -> None:
        """Raise Violation if it does not hold now."""


class Node:
    """A node of a world."""

    def __init__(
        self,
        world: World,
        node_id: int,
        properties: Mapping[str, str],
        cluster_id: str | None = None,
    ) -> None:
        self.world = world
        self.node_id = node_id
        self.name = node_address(node_id)
        self.machine = world.add_machine(self.name)
        self.directories = properties.get("log.dirs", DATA_DIRECTORY).split(",")
        """Its log directories; the metadata log is in the first."""
        for directory in self.directories:
            self.machine.files.mkdir(directory)
        self.machine.files.sync_dir("/")
        self.peer = Peer(node_id, self.name, PORT)
        self.state = NodeState.DOWN
        self.server: BrokerServer | None = None
        self.may_fail = False
        """A fault is under way that may make it end by itself, or refuse to start."""
        self.has_doubtful_disk = False
        """A call of its disk may have failed since it started: a directory may be offline."""
        self.has_failed = False
        """The process has given up, and ends at any moment."""
        self.has_stopped = False
        """It has ended in good order, and was not started since."""
        self.was_asked_to_stop = False
        """It ends, or has ended, in good order unless a fault came first."""
        self.starts = 0
        self.on_up: Callable[[Node], None] = _ignore
        self.on_ended: Callable[[Node, bool], None] = _ignore_end
        self.can_repair: Callable[[Node, BaseException], bool] = _cannot
        """Does what an operator would, so that the next start succeeds, or returns False."""
        self.rules: list[NodeRule] = []
        self.image_rules: list[ImageRule] = []
        self._checked_image: MetadataImage | None = None
        self._properties = dict(properties)
        self._cluster_id = cluster_id

    def note(self, text: str) -> None:
        """Add a line to the timeline."""
        self.world.timeline.note(self.name, text)

    # ---------------------------------------------------------------- rules

    @property
    def serving(self) -> BrokerServer | None:
        """Its server, if it is UP or STOPPING and has not failed."""
        is_up = self.state in (NodeState.UP, NodeState.STOPPING) and not self.has_failed
        return self.server if is_up else None

    def check_rules(self) -> None:
        """Check the rules after an event of the process."""
        server = self.serving
        if server is not None:
            image = server.image
            if image is not self._checked_image:
                self._checked_image = image
                for image_rule in self.image_rules:
                    image_rule.check_image(self, server, image)
        for rule in self.rules:
            rule.check(self, server)

    # ---------------------------------------------------------------- up

    def start(self) -> None:
        """Start the process; does nothing if it already runs."""
        if self.state is not NodeState.DOWN:
            return
        from pykbroker.broker.server import BrokerServer

        self.starts += 1
        self.has_failed = self.has_stopped = self.was_asked_to_stop = False
        self.has_doubtful_disk = bool(self.machine.files.broken)
        self.note(f"starts (start number {self.starts})")
        self.state = NodeState.STARTING
        self.machine.files.now_ms = self.machine.clock.wall_us() // 1000
        environment = self.machine.boot()
        self._checked_image = None
        self.world.running[self.machine.process] = self
        config = BrokerConfig.from_properties(self._properties)
        server = self.server = BrokerServer(environment, config, self._cluster_id)
        server.follow_fatal(self._fatal)
        # A turn of the event loop later, so that the start runs in the name of the process.
        environment.scheduler.call_soon(self._run_start, server)

    def _run_start(self, server: BrokerServer) -> None:
        spawn(server.start()).on_resolved(lambda outcome: self._started(server, outcome))

    def _started(self, server: BrokerServer, outcome: object) -> None:
        if self.server is not server:
            return
        if isinstance(outcome, BaseException):
            self.note(f"does not start: {type(outcome).__name__}: {outcome}")
            if not self.may_fail and not self.can_repair(self, outcome):
                self.world.fail(outcome)
            self._end(is_power=False)
            return
        self.state = NodeState.UP
        self.world.serving.add(self.name)
        self.note("serves")
        self.on_up(self)

    def _fatal(self, message: str) -> None:
        self.note(f"exits on its own: {message}")
        self.has_failed = True
        if not self.may_fail:
            self.world.fail(Violation(f"{self.name} exited on its own: {message}"))
        self.world.after(0, self.kill)

    # ---------------------------------------------------------------- down

    def stop(self) -> None:
        """Send SIGTERM: shut down cleanly; does nothing unless it serves."""
        server = self.server
        if self.state is not NodeState.UP or server is None:
            return
        self.note("stops")
        self.was_asked_to_stop = True
        self.state = NodeState.STOPPING
        self.world.serving.discard(self.name)
        process = self.machine.process
        self.world.queue.after(
            0,
            process,
            lambda: spawn(server.stop()).on_resolved(
                lambda outcome: self._stopped(server, outcome)
            ),
        )

    def _stopped(self, server: BrokerServer, outcome: object) -> None:
        if self.server is not server:
            return
        if isinstance(outcome, BaseException):
            self.world.fail(outcome)
        self.note("has stopped")
        self.has_stopped = True
        self._end(is_power=False)

    def kill(self) -> None:
        """Send SIGKILL; does nothing if no process runs."""
        if self.state is not NodeState.DOWN:
            self.note("is killed")
            self._end(is_power=False)

    def power_off(self, *, reorder: bool) -> None:
        """Stop the machine, if a process runs; what was not synced may be lost."""
        if self.state is not NodeState.DOWN:
            self.note(f"loses power{', writes reordered' if reorder else ''}")
            self._end(is_power=True, reorder=reorder)

    def _end(self, *, is_power: bool, reorder: bool = False) -> None:
        self.state = NodeState.DOWN
        self.world.serving.discard(self.name)
        self.on_ended(self, is_power)
        self.server = None
        self.world.running.pop(self.machine.process, None)
        if is_power:
            self.machine.power_off(reorder=reorder)
        else:
            self.machine.end()


def add_rule(nodes: Iterable[Node], rule: NodeRule) -> None:
    """Have a rule checked after the events of these nodes."""
    for node in nodes:
        node.rules.append(rule)


def add_image_rule(nodes: Iterable[Node], rule: ImageRule) -> None:
    """Have a rule checked after changes of the metadata of these nodes."""
    for node in nodes:
        node.image_rules.append(rule)


def _ignore(node: Node) -> None:
    """Ignore the notification."""


def _ignore_end(node: Node, is_power: bool) -> None:
    """Ignore the notification."""


def _cannot(node: Node, failure: BaseException) -> bool:
    return False
