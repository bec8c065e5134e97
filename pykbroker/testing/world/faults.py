"""The faults of a world and their times, drawn from the seed, one after another.

    kill, power, stop           the process is killed, the machine loses its power, a clean shutdown
    crash                       the same as kill or power, at the n-th disk call from now
    sync fails, disk full       the disk returns errors; the node may exit, and is killed when the
                                disk works again
    broken directory            one of several log directories fails (`broken_directories.py`): the
                                node may lose it, or end if its metadata log is there
    pause, slow threads         the process does not run; its background work is slow
    clock                       the wall clock jumps
    cut, slow link, break       the network, one way; one connection

A directory that the node took offline is used again from the first start after its repair.

Which kinds a world uses is drawn as well (`weights`), so that rare combinations of faults become
frequent. Most faults end by themselves after a while. `heal` and `mend` end all but pauses
and shutdowns that have begun; a clock that has jumped stays wrong. The scenario calls
`restart_later` when a node has ended.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence

from pykbroker.testing.world.broken_directories import KINDS, BrokenDirectory
from pykbroker.testing.world.node import Node, NodeState
from pykbroker.testing.world.randomness import pick
from pykbroker.testing.world.virtual_time import Process
from pykbroker.testing.world.world import World

WEIGHTS = {
    "kill": 3,
    "power": 3,
    "stop": 2,
    "crash": 4,
    "failing_sync": 1,
    "full_disk": 1,
    "pause": 3,
    "slow_threads": 2,
    "clock_jump": 1,
    "cut": 3,
    "slow_link": 3,
    "break_connection": 4,
}
DIRECTORY_WEIGHTS = {"broken_directory": 8}
"""Of nodes with several log directories."""
MOST_JUMP_US = 20 * 60 * 1_000_000
MOST_WRONG_US = 50 * 60 * 1_000_000
"""A leader whose clock is an hour slow refuses what clients send, as it should
(`message.timestamp.after.max.ms`).
"""
MS = 1_000
LOOK_AGAIN_US = 20 * MS


class Faults:
    """The faults of the nodes of a world, drawn from the seed."""

    def __init__(
        self,
        world: World,
        nodes: Sequence[Node],
        clients: Sequence[str],
        weights: Mapping[str, int] = WEIGHTS,
    ) -> None:
        self.world = world
        self.dice = world.dice("faults")
        self.nodes = list(nodes)
        self._hosts = [*clients, *(node.name for node in nodes)]
        self.is_over = False
        self._ends_with_power: dict[str, bool] = {}
        if any(len(node.directories) > 1 for node in nodes):
            weights = {**weights, **DIRECTORY_WEIGHTS}
        kinds = [kind for kind in weights if self.dice.one_in(2)] or ["kill"]
        self.weights = {kind: weights[kind] for kind in kinds}
        self.pace_ms = self.dice.choice((150, 400, 1_200))
        self.count = 0
        world.on_crash_point = self._crash_point

    def start(self) -> None:
        """Inject faults from now on, until `heal` or `mend`."""
        self.world.timeline.note("faults", f"enabled: {', '.join(self.weights)}")
        self._next()

    def _next(self) -> None:
        self.world.after(self.dice.randrange(2 * self.pace_ms * MS), self._strike)

    def _strike(self) -> None:
        if self.is_over:
            return
        self.count += 1
        kind = pick(self.dice, self.weights)
        strike: Callable[[Node], None] = getattr(self, f"_{kind}")
        strike(self.dice.choice(self.nodes))
        self._next()

    def _later(
        self, least_ms: int, most_ms: int, callback: Callable[..., object], *more: object
    ) -> None:
        self.world.after(self.dice.randint(least_ms * MS, most_ms * MS), callback, *more)

    # ---------------------------------------------------------------- nodes

    def restart_later(self, node: Node) -> None:
        """Start a node that is down again, later."""
        self._later(1, 800, node.start)

    def _kill(self, node: Node) -> None:
        node.kill()

    def _power(self, node: Node) -> None:
        node.power_off(reorder=self.dice.one_in(2))

    def _stop(self, node: Node) -> None:
        node.stop()

    def _crash(self, node: Node) -> None:
        self.crash_at_call(node, self.dice.choice((1, 3, 10, 30, 100)))

    def crash_at_call(self, node: Node, number: int) -> None:
        """Crash the node or its machine at this disk call from now (1: the next), unless the faults
        are over or the node is down.
        """
        if self.is_over or node.state is NodeState.DOWN:
            return
        files = node.machine.files
        files.crash_at = files.calls + number
        self._ends_with_power[node.name] = self.dice.one_in(2)
        node.note("will crash during a later disk call")

    def _crash_point(self, process: Process) -> None:
        node = next(node for node in self.nodes if node.machine.process is process)
        if self._ends_with_power.get(node.name):
            self._power(node)
        else:
            node.kill()

    def _pause(self, node: Node) -> None:
        duration_ms = self.dice.choice((30, 300, 2_500, 7_000))
        node.note(f"is paused for {duration_ms} ms")
        node.machine.pause(duration_ms * MS)

    def _slow_threads(self, node: Node) -> None:
        if node.server is None:
            return
        background = node.server.environment.background
        background.is_slow = True  # type: ignore[attr-defined]
        node.note("has slow threads")

    def _clock_jump(self, node: Node) -> None:
        clock = node.machine.clock
        wrong_us = clock.offset_us + self.dice.randint(-MOST_JUMP_US, MOST_JUMP_US)
        jump_us = max(-MOST_WRONG_US, min(wrong_us, MOST_WRONG_US)) - clock.offset_us
        clock.jump(jump_us)
        node.note(f"has its wall clock moved by {jump_us // 1_000_000} s")

    # ---------------------------------------------------------------- disks

    def _failing_sync(self, node: Node) -> None:
        self._fail_disk(node, "sync", errno.EIO)

    def _full_disk(self, node: Node) -> None:
        self._fail_disk(node, "write", errno.ENOSPC)

    def _fail_disk(self, node: Node, call: str, code: int) -> None:
        if node.state is NodeState.DOWN:
            return
        node.note(f"has a disk on which every {call} fails")
        node.may_fail = node.has_doubtful_disk = True
        files = node.machine.files

        def fail(name: str, path: str) -> OSError | None:
            return OSError(code, "fault of the world", path) if name == call else None

        files.fail = fail
        self._later(5, 600, self._mend_disk, node)

    def _mend_disk(self, node: Node) -> None:
        """Repair the disk, and kill the process, which may have lost its directory; does nothing
        unless the node may fail.
        """
        if not node.may_fail:
            return  # the faults are over already
        node.machine.files.fail = None
        node.note("has a disk that works again")
        node.kill()
        self._judge(node)

    def _broken_directory(self, node: Node) -> None:
        path, kind = self.dice.choice(node.directories), self.dice.choice(KINDS)
        self.break_directory(node, path, kind, self.dice.choice((0, 0, 1, 3, 10, 30)))
        if self.dice.one_in(3):
            self._later(1, 400, self._end_somehow, node)

    def break_directory(self, node: Node, path: str, kind: str, calls_left: int) -> None:
        """Break a directory of the node after some more calls, and mend it later; does nothing if
        the faults are over.
        """
        if self.is_over:
            return
        node.note(f"has a directory {path} that fails after {calls_left} calls: {kind}")
        node.machine.files.broken.add(BrokenDirectory(path, kind, calls_left))
        node.has_doubtful_disk = True
        node.may_fail = node.may_fail or path == node.directories[0]
        self._later(5, 1_500, self._mend_directory, node, path)

    def _mend_directory(self, node: Node, path: str) -> None:
        """Repair a directory; the next start, which is often soon, uses it."""
        if path not in node.machine.files.broken:
            return  # the faults are over already
        node.machine.files.broken.mend(path)
        node.note(f"has a directory {path} that works again")
        if node.may_fail:
            node.kill()
            self._judge(node)
        elif not self.dice.one_in(3):
            self._end_somehow(node)

    def _end_somehow(self, node: Node) -> None:
        if not self.is_over:
            self.dice.choice((self._kill, self._stop, self._power))(node)

    def _judge(self, node: Node) -> None:
        """Note whether the node may end by itself: without the directory of its metadata log."""
        node.may_fail = node.directories[0] in node.machine.files.broken

    # ---------------------------------------------------------------- network

    def _two_hosts(self, node: Node) -> tuple[str, str]:
        other = self.dice.choice([host for host in self._hosts if host != node.name])
        return (node.name, other) if self.dice.one_in(2) else (other, node.name)

    def _cut(self, node: Node) -> None:
        sender, receiver = self._two_hosts(node)
        network = self.world.network
        network.cut(sender, receiver)
        self.world.timeline.note("network", f"{sender} cannot reach {receiver}")
        self._later(20, 4_000, network.heal, sender, receiver)

    def _slow_link(self, node: Node) -> None:
        sender, receiver = self._two_hosts(node)
        jitter_ms = self.dice.choice((5, 80, 900))
        self.world.network.slow(sender, receiver, jitter_ms * MS)
        self.world.timeline.note("network", f"{sender} to {receiver} takes up to {jitter_ms} ms")
        self._later(100, 2_000, self.world.network.slow, sender, receiver, 500)

    def _break_connection(self, node: Node) -> None:
        found = self.world.network.connections()
        if found:
            endpoint = self.dice.choice(found)
            self.world.timeline.note(
                "network",
                f"breaks a connection between {endpoint.host.address} and {endpoint.peer[0]}",
            )
            endpoint.break_both()

    # ---------------------------------------------------------------- the end

    def heal(self) -> None:
        """As `mend`; the world is calm from then on, or from when paused nodes run and nodes that a
        fault has asked to stop serve again.
        """
        self.world.calm_since_us = self.pauses_end_us()
        stopping = [node for node in self.nodes if node.state is NodeState.STOPPING]
        self.mend()
        if stopping:
            self.world.calm_since_us = None
            self._calm_when_back(stopping)

    def pauses_end_us(self) -> int:
        """Return when the last paused node goes on; now if none is paused."""
        processes = [node.machine.process for node in self.nodes]
        ends = [process.paused_until_us for process in processes if process is not None]
        return max(self.world.now_us, *ends, 0)

    def _calm_when_back(self, stopping: Sequence[Node]) -> None:
        """Begin the calm when the nodes that a fault has asked to stop serve again: they may end
        long after the faults are over.
        """
        if all(node.state is NodeState.UP for node in stopping):
            self.world.calm_since_us = self.pauses_end_us()
        else:
            self.world.after(LOOK_AGAIN_US, self._calm_when_back, stopping)

    def mend(self) -> None:
        """Stop all faults, kill the nodes whose disk is doubtful, and start every node that is
        down. Pauses and shutdowns that have begun take their time.
        """
        self.is_over = True
        self.world.timeline.note("faults", "are over")
        self.world.network.heal_all()
        for node in self.nodes:
            node.machine.files.crash_at = None
            if node.server is not None:
                node.server.environment.background.is_slow = False  # type: ignore[attr-defined]
            self._mend_disk(node)
            node.machine.files.broken.mend_all()
            if node.has_doubtful_disk:
                node.kill()
            self._judge(node)
            node.start()
