"""Reads the state of a node for a scrape, without holding up the event loop.

In:  `collect()`. Out: a Deferred of the text for Prometheus.
The families are read on the event loop, which owns all of the state; partitions and topics are read
in slices of PARTITIONS_PER_SLICE and TOPICS_PER_SLICE, groups by the partition of their
coordinator, and the loop turns in between. A thread renders the text. One scrape runs at a time;
others wait for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pykbroker import __version__
from pykbroker.broker.monitoring.families import Families, render
from pykbroker.broker.monitoring.group_families import GroupFamilies
from pykbroker.broker.monitoring.log_families import PartitionFamilies
from pykbroker.broker.monitoring.measuring_worker import MeasuringWorker
from pykbroker.broker.monitoring.node import MonitoredNode
from pykbroker.broker.monitoring.node_families import (
    add_connections,
    add_counters,
    add_directories,
    add_purgatory,
    add_state,
)
from pykbroker.broker.monitoring.quorum_families import ControllerFamilies, add_quorum
from pykbroker.broker.monitoring.request_families import add_loop_time, add_requests
from pykbroker.broker.monitoring.request_times import WINDOW_MS
from pykbroker.deferred import Deferred, Mutex, spawn

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices

PARTITIONS_PER_SLICE: Final = 100
TOPICS_PER_SLICE: Final = 500
_MS: Final = 1_000_000


class Collector:
    """The metrics of one node."""

    def __init__(self, node: MonitoredNode) -> None:
        self._node = node
        self._environment = node.environment
        self._threads = node.environment.background.threads("metrics")
        self._one_at_a_time = Mutex()
        self._idle = IdleShare(node.environment.clock.monotonic_ns())

    def close(self) -> None:
        """Wait for the thread; pending scrapes are not answered any more."""
        self._threads.close()

    def collect(self) -> Deferred:
        """Return a Deferred of the text of all metrics."""
        return spawn(self._collect())

    async def _collect(self) -> bytes:
        async with self._one_at_a_time:
            families = Families()
            self._read_node(families)
            services: BrokerServices | None = getattr(self._node, "services", None)
            if services is not None:
                await self._read_partitions(families, services)
                await self._read_groups(families, services)
            if self._node.config.is_controller and hasattr(self._node, "metadata"):
                await self._read_cluster(families)
            text: bytes = await self._threads.run(partial(render, families))
            return text

    def _read_node(self, families: Families) -> None:
        """Read the parts that exist from the start, and those created later."""
        node = self._node
        add_state(families, node.state, __version__)
        add_counters(families, node.counters)
        add_loop_time(families, self._environment.loop_time.by_unit)
        add_purgatory(families, node.purgatory)
        add_connections(families, node.network)
        if hasattr(node, "log_manager"):
            add_directories(families, node.log_manager)
        if hasattr(node, "metadata"):  # the metadata log is read, and the worker serves
            add_quorum(families, node.kraft.raft.raft, node.image)
            worker = node.worker
            if isinstance(worker, MeasuringWorker):
                now_ns = self._environment.clock.monotonic_ns()
                add_requests(families, node.routes, worker.times, now_ns // _MS)
                self._add_idle_share(families, now_ns, worker.busy_ns)

    def _add_idle_share(self, families: Families, now_ns: int, busy_ns: int) -> None:
        """Add the idle share: one event loop takes the place of Kafka's
        network threads and request handlers.
        """
        share = self._idle.look(now_ns, busy_ns)
        for name in (
            "kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent",
            "kafka_network_socketserver_networkprocessoravgidle_percent",
        ):
            families.gauge(name, "Share of the last minute not spent on requests, 0 to 1.").add(
                share
            )

    async def _read_partitions(self, families: Families, services: BrokerServices) -> None:
        reader = PartitionFamilies(
            families, services.wall_ms(), self._node.config.transaction_max_timeout_ms
        )
        everything = list(services.replica_manager.partitions())
        for some in slices_of(everything, PARTITIONS_PER_SLICE):
            reader.add(some)
            await self._environment.scheduler.sleep(0)
        reader.finish()

    async def _read_groups(self, families: Families, services: BrokerServices) -> None:
        groups = services.coordinators.groups.made
        if groups is None:
            return
        reader = GroupFamilies(families, services.replica_manager.find)
        for machine in groups.runtime.machines():
            reader.add(machine)
            await self._environment.scheduler.sleep(0)
        reader.finish()

    async def _read_cluster(self, families: Families) -> None:
        image = self._node.image
        raft = self._node.kraft.raft.raft
        reader = ControllerFamilies(families, image, is_active=raft.is_leader)
        topics = families.gauge("kafka_topic_partitions", "Partitions of the topic.", "topic")
        for some in slices_of(list(image.topics_by_name.values()), TOPICS_PER_SLICE):
            reader.add(some)
            if raft.is_leader:
                for topic in some:
                    topics.add(len(topic.partitions), topic.name)
            await self._environment.scheduler.sleep(0)
        reader.finish()


def slices_of(everything: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return the items in pieces of at most `size`."""
    return [everything[start : start + size] for start in range(0, len(everything), size)]


class IdleShare:
    """The share of time, over about the last minute, in which the worker was idle."""

    def __init__(self, now_ns: int) -> None:
        self._looks: deque[tuple[int, int]] = deque(((now_ns, 0),))

    def look(self, now_ns: int, busy_ns: int) -> float:
        """Return the share, 0 to 1; busy_ns: how long the worker was busy since it was made."""
        looks = self._looks
        while len(looks) > 1 and looks[1][0] <= now_ns - WINDOW_MS * _MS:
            looks.popleft()
        then_ns, then_busy_ns = looks[0]
        if now_ns - looks[-1][0] >= WINDOW_MS * _MS // 60:
            looks.append((now_ns, busy_ns))
        if now_ns <= then_ns:
            return 1.0
        return max(0.0, 1 - (busy_ns - then_busy_ns) / (now_ns - then_ns))
