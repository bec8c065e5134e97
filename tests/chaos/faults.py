"""Faults that come by chance, one or two at a time, and are healed again: all from one seed.

    kill          kill -9 of one, two or all nodes; started again some seconds later, or at once
    stop          SIGTERM, and a start
    pause         SIGSTOP, SIGCONT
    full disk     no file of the node can grow: it ends by itself, and is started again
    links         between two nodes, around one node, or between clients and a node: cut, slow,
                  a black hole, or one way

State: the nodes that are down, paused, or started and not known to be ready. In: `run`, `calm`.
Out: a line for every fault; a note of every node that ended without one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from subprocess import TimeoutExpired

from pykbroker.testing import BrokerFailed
from pykbroker.testing.cluster import ClusterNode
from tests.chaos.cluster import ProxiedCluster, fill_disk, name_of
from tests.chaos.proxy import CLIENTS, LinkState, Proxy

LONGEST_FAULT_S = 10.0
LONGEST_PAUSE_S = 6.0
END_S = 10.0
READY_TRIES = 3

Fault = Callable[[], str]


class Nemesis:
    """See the module's text."""

    def __init__(
        self,
        cluster: ProxiedCluster,
        proxy: Proxy,
        dice: random.Random,
        say: Callable[[str], None],
        note: Callable[[str], None],
        kinds: Sequence[str] = ("kill", "stop", "pause", "full disk", "links"),
    ) -> None:
        """say: takes each line about a fault; note: takes what must not be."""
        self._cluster = cluster
        self._proxy = proxy
        self._dice = dice
        self._say = say
        self._note = note
        self._kinds = kinds
        self._started = time.monotonic()
        self._paused: list[ClusterNode] = []
        self._down: list[ClusterNode] = []
        self._starting: dict[ClusterNode, None] = {}
        self.count = 0

    def run(self, seconds: float) -> None:
        """Bring faults for so long; the last ones are healed."""
        end = time.monotonic() + seconds
        faults: dict[str, Fault] = {
            "kill": self._kill,
            "stop": self._stop,
            "pause": self._pause,
            "full disk": self._full_disk,
            "links": self._links,
        }
        while (left := end - time.monotonic()) > 0:
            self._look_for_ended_nodes()
            for kind in self._dice.sample(self._kinds, self._dice.choice((1, 1, 2))):
                self._tell(faults[kind]())
                self.count += 1
            time.sleep(min(left, self._dice.uniform(0, LONGEST_FAULT_S)))
            self._heal()
            time.sleep(
                min(max(0.0, end - time.monotonic()), self._dice.uniform(0, LONGEST_PAUSE_S))
            )
        self._look_for_ended_nodes()

    def calm(self) -> None:
        """No more faults: every node is ready when this returns."""
        self._heal()
        for node in list(self._starting):
            for _ in range(READY_TRIES):
                try:
                    node.wait_until_ready()
                    break
                except BrokerFailed as failure:
                    self._note(f"node {node.id}: {failure}")
                    self._launch(node)

    def _launch(self, node: ClusterNode) -> None:
        node.launch()
        self._starting[node] = None

    def _tell(self, what: str) -> None:
        self._say(f"{time.monotonic() - self._started:7.1f} s  {what}")

    def _running(self) -> list[ClusterNode]:
        away = (*self._down, *self._paused)
        return [node for node in self._cluster.nodes if node not in away]

    def _heal(self) -> None:
        self._proxy.heal()
        for node in self._paused:
            node.resume()
        for node in self._down:
            self._launch(node)
        self._paused.clear()
        self._down.clear()
        self._tell("healed")

    def _look_for_ended_nodes(self) -> None:
        for node in self._cluster.nodes:
            if node.process.poll() is not None:
                self._note(f"node {node.id} exited on its own: {node.log_text[-3000:]}")
                node.kill()
                self._launch(node)

    # ---------------------------------------------------------------- the faults

    def _kill(self) -> str:
        running = self._running()
        count = self._dice.choice((1, 1, 1, 1, 2, 3))
        victims = self._dice.sample(running, min(count, len(running)))
        is_short = self._dice.random() < 0.3
        for node in victims:
            node.kill()
        names = ", ".join(str(node.id) for node in victims)
        if is_short:
            for node in victims:
                self._launch(node)
            return f"kill -9 of {names}, and a start"
        self._down += victims
        return f"kill -9 of {names}"

    def _stop(self) -> str:
        running = self._running()
        if not running:
            return "nobody to stop"
        node = self._dice.choice(running)
        node.process.terminate()
        with suppress(TimeoutExpired):
            node.process.wait(END_S)
        node.kill()
        self._down.append(node)
        return f"SIGTERM to {node.id}"

    def _pause(self) -> str:
        running = self._running()
        if not running:
            return "nobody to pause"
        node = self._dice.choice(running)
        node.pause()
        self._paused.append(node)
        return f"SIGSTOP of {node.id}"

    def _full_disk(self) -> str:
        running = self._running()
        if not running:
            return "nobody with a disk"
        node = self._dice.choice(running)
        fill_disk(node)
        how = "ended"
        try:
            node.process.wait(END_S)
        except TimeoutExpired:
            how = "had nothing to write, and was killed"
        node.kill()
        self._down.append(node)
        return f"the disk of {node.id} is full: it {how}"

    def _links(self) -> str:
        states = [state for state in LinkState if state is not LinkState.OPEN]
        state = self._dice.choice(states)
        names = [name_of(node) for node in self._cluster.nodes]
        one, other = self._dice.sample(names, 2)
        match self._dice.choice(("pair", "direction", "around", "clients")):
            case "pair":
                links = [(one, other), (other, one)]
            case "direction":
                links = [(one, other)]
            case "around":
                rest = [name for name in (*names, CLIENTS) if name != one]
                links = [(name, one) for name in rest] + [(one, name) for name in names]
            case _:
                links = [(CLIENTS, one)]
        for source, destination in links:
            self._proxy.set_link(source, destination, state)
        shown = ", ".join(f"{source} -> {destination}" for source, destination in links)
        return f"{state.value}: {shown}"
