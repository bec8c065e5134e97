"""The drivers of replication: created on first use, reconfigured, closed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.replication_drivers import ReplicationDrivers
from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.kraft.registration import SECURITY_PROTOCOL_IDS
from pykbroker.protocol.messages.alter_partition_request import AlterPartitionRequest
from pykbroker.protocol.messages.fetch_request import FetchRequest
from pykbroker.protocol.messages.register_broker_record import BrokerEndpoint
from pykbroker.protocol.primitives import Message
from pykbroker.types import Peer
from tests.kraft.node_world import ManualScheduler
from tests.replication.node import Node
from tests.replication.test_hosting import changed

LAG_MS = 30_000


class Wired:
    """A node with its drivers, before any partition."""

    def __init__(self) -> None:
        self.node = Node()
        self.scheduler = ManualScheduler(self.node.now_ms, self.node.files)
        self.fetches: list[tuple[Peer, Message, str]] = []
        self.proposals: list[Message] = []
        environment: Any = SimpleNamespace(
            scheduler=self.scheduler,
            clock=SimpleNamespace(now_ms=lambda: self.scheduler.now_ms),
        )
        self.drivers = self._drivers(environment)
        for broker_id in (2, 3):
            endpoint = BrokerEndpoint(
                name="PLAINTEXT",
                host="there",
                port=9000 + broker_id,
                security_protocol=SECURITY_PROTOCOL_IDS["PLAINTEXT"],
            )
            self.node.register(broker_id, end_points=[endpoint])

    def _drivers(self, environment: Environment) -> ReplicationDrivers:
        outgoing: Any = SimpleNamespace(send=self._send)
        channel: Any = SimpleNamespace(send=self._propose)
        return ReplicationDrivers(
            manager=self.node.manager,
            environment=environment,
            config=self.node.config,
            outgoing=outgoing,
            channel=channel,
            broker_epoch=lambda: 5,
            wake=lambda: None,
        )

    def _send(self, peer: Peer, message: Message, deadline_ms: int, purpose: str) -> Deferred:
        self.fetches.append((peer, message, purpose))
        return Deferred()

    def _propose(self, message: Message, deadline_ms: int) -> Deferred:
        self.proposals.append(message)
        return Deferred()


def test_a_follower_fetches_from_the_listener_for_other_brokers() -> None:
    wired = Wired()
    wired.node.create_topic(replicas=(2, 1), leader=2)
    wired.scheduler.advance(0)
    ((peer, message, purpose),) = wired.fetches
    assert (peer, purpose) == (Peer(2, "there", 9002), "fetcher-0")
    assert isinstance(message, FetchRequest)
    assert (message.max_wait_ms, message.min_bytes, message.max_bytes) == (500, 1, 10485760)
    assert message.topics[0].partitions[0].partition_max_bytes == 1048576


def test_a_broker_without_that_listener_is_waited_for() -> None:
    wired = Wired()
    wired.node.register(2, epoch=11)
    wired.node.create_topic(replicas=(2, 1), leader=2)
    wired.node.create_topic("other", number=8, replicas=(9, 1), leader=9)
    wired.scheduler.advance(5000)
    assert wired.fetches == []


def test_a_leader_proposes_through_the_controller_channel() -> None:
    wired = Wired()
    partition = wired.node.create_topic(replicas=(1, 2), isr=(1,))
    wired.node.follower_fetch(partition, 0)
    (message,) = wired.proposals
    assert isinstance(message, AlterPartitionRequest)
    assert (message.broker_id, message.broker_epoch) == (1, 5)


def test_the_in_sync_replicas_are_checked_by_the_clock() -> None:
    wired = Wired()
    partition = wired.node.create_topic(replicas=(1, 2))
    wired.node.append(partition, b"v", acks=1)
    wired.scheduler.advance(LAG_MS)
    assert wired.proposals == []
    wired.scheduler.advance(LAG_MS // 2)
    assert len(wired.proposals) == 1


def test_more_fetchers_spread_the_partitions_anew() -> None:
    wired = Wired()
    wired.node.create_topic(replicas=(2, 1), leader=2, partitions=2)
    wired.scheduler.advance(0)
    assert len(wired.fetches) == 1
    wired.drivers.on_config(wired.node.config)
    wired.scheduler.advance(0)
    assert len(wired.fetches) == 1
    two: Any = SimpleNamespace(num_replica_fetchers=2)
    wired.drivers.on_config(two)
    wired.drivers._config = wired.node.config
    wired.scheduler.advance(0)
    assert sorted(purpose for _, _, purpose in wired.fetches[1:]) == ["fetcher-0", "fetcher-1"]


def test_a_node_alone_makes_no_drivers() -> None:
    wired = Wired()
    partition = wired.node.create_topic()
    wired.node.append(partition, b"v")
    wired.node.apply(changed(leader=-1))
    wired.node.delete_topic()
    assert wired.drivers._fetchers is None
    assert wired.drivers._proposals is None


def test_closed_it_asks_for_nothing() -> None:
    wired = Wired()
    partition = wired.node.create_topic(replicas=(1, 2), isr=(1,))
    wired.node.follower_fetch(partition, 0)
    wired.node.create_topic("u", number=8, replicas=(2, 1), leader=2)
    wired.drivers.close()
    wired.scheduler.advance(10 * LAG_MS)
    assert (len(wired.proposals), wired.fetches) == (1, [])
