"""The group coordinator is created on first use, and receives every event either way."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pykbroker.broker.coordinators import Coordinators, LateCoordinator
from pykbroker.broker.outgoing import Outgoing
from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import InOneGo, Slices, go_on
from pykbroker.kraft.delta import delta_between
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.network.request_channel import RequestChannel
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.register_broker_record import BrokerEndpoint
from pykbroker.types import TopicPartition
from tests.coordinator.memory_log import VirtualLoop
from tests.replication.node import Node

Groups = LateCoordinator[GroupCoordinator]


def coordinators_of(node: Node, outgoing: Any = None, slices: Slices | None = None) -> Coordinators:
    loop = VirtualLoop(node.now_ms)
    environment: Any = SimpleNamespace(
        scheduler=loop, clock=loop, random=None, slices=slices or InOneGo()
    )
    return Coordinators(
        environment=environment,
        config=lambda: node.config,
        replica_manager=node.manager,
        outgoing=outgoing or Outgoing(environment, node.config),
        channel=RequestChannel(environment.scheduler, 1),
        take_producer_id=lambda: 1,
        write_markers=lambda markers: Deferred(),
    )


def groups_of(node: Node, slices: Slices | None = None) -> Groups:
    """Of a node that publishes to its replica manager, then to them."""
    groups = coordinators_of(node, slices=slices).groups
    apply = node.apply

    def publish(*records: Any) -> None:
        before = node.manager.image
        apply(*records)
        delta = delta_between(before, node.manager.image)
        groups.apply(delta, node.manager.image)

    node.apply = publish  # type: ignore[method-assign]
    return groups


def is_coordinated(groups: Groups) -> bool:
    """Whether some partition of the topic is coordinated here."""
    request = HeartbeatRequest(group_id="g", member_id="m", generation_id=1)
    reply: Any = groups.get().heartbeat(request)
    code: int = reply.error_code
    return code != 16  # NOT_COORDINATOR


def test_without_its_topic_there_is_no_coordinator() -> None:
    node = Node()
    groups = groups_of(node)
    node.create_topic("mine")
    assert groups.made is None
    groups.stop()  # nothing to stop


def test_its_topic_makes_it() -> None:
    node = Node()
    groups = groups_of(node)
    node.create_topic(GROUP_METADATA_TOPIC)
    assert groups.made is not None
    assert is_coordinated(groups)


def test_one_that_was_asked_for_is_told_of_its_topic_later() -> None:
    node = Node()
    groups = groups_of(node)
    node.create_topic("mine")
    assert not is_coordinated(groups)
    made = groups.get()
    node.create_topic(GROUP_METADATA_TOPIC)
    assert groups.get() is made
    assert is_coordinated(groups)
    groups.stop()
    assert not is_coordinated(groups)


def test_transactions_of_other_coordinators_are_asked_for_over_the_network() -> None:
    node = Node()
    listener = BrokerEndpoint(name="PLAINTEXT", host="there", port=9092)
    node.register(2, end_points=[listener])
    node.create_topic(TRANSACTION_STATE_TOPIC, replicas=(2,), leader=2)
    sent: list[Any] = []

    def send(*arguments: Any, purpose: str) -> Deferred:
        sent.append((*arguments, purpose))
        return Deferred()

    joining = coordinators_of(node, SimpleNamespace(send=send)).joining
    partition = TopicPartition("t", 0)
    joining.ask("id", 7, 0, [partition], TransactionSupport.JOINING)
    ((peer, request, deadline_ms, purpose),) = sent
    assert (peer.node_id, peer.host, peer.port) == (2, "there", 9092)
    assert [each.transactional_id for each in request.transactions] == ["id"]
    assert deadline_ms == node.now_ms + node.config.request_timeout_ms
    assert purpose == "transactions"


class Beside(InOneGo):
    """Slices in which a request comes while something runs apart; `count` tells how often."""

    def __init__(self) -> None:
        self.count = 0
        self.meanwhile: Callable[[], object] = go_on

    def apart(self, work: Callable[[], object]) -> None:
        self.count += 1
        work()
        self.meanwhile()


def test_its_code_is_imported_apart_when_its_topic_makes_it() -> None:
    node, slices = Node(), Beside()
    groups_of(node, slices)
    node.create_topic("mine")
    assert slices.count == 0
    node.create_topic(GROUP_METADATA_TOPIC)
    node.create_topic("yours")
    assert slices.count == 1


def test_a_request_that_comes_meanwhile_makes_the_only_one() -> None:
    node, slices = Node(), Beside()
    groups = groups_of(node, slices)
    made: list[GroupCoordinator] = []
    slices.meanwhile = lambda: made.append(groups.get())
    node.create_topic(GROUP_METADATA_TOPIC)
    assert made == [groups.get()]
    assert is_coordinated(groups)
