"""The group coordinator is made when it is needed, and is told everything either way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.coordinators import Coordinators, LateCoordinator
from pykbroker.broker.outgoing import Outgoing
from pykbroker.coordinator.group.group_coordinator_driver import GroupCoordinator
from pykbroker.deferred import Deferred
from pykbroker.kraft.delta import delta_between
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from tests.coordinator.memory_log import VirtualLoop
from tests.replication.node import Node

Groups = LateCoordinator[GroupCoordinator]


def groups_of(node: Node) -> Groups:
    """Of a node that publishes to its replica manager, then to them."""
    loop = VirtualLoop(node.now_ms)
    environment: Any = SimpleNamespace(scheduler=loop, clock=loop, random=None)
    coordinators = Coordinators(
        environment=environment,
        config=lambda: node.config,
        replica_manager=node.manager,
        outgoing=Outgoing(environment, node.config),
        wake=lambda: None,
        take_producer_id=lambda: 1,
        write_markers=lambda markers: Deferred(),
    )
    groups = coordinators.groups
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
    return reply.error_code != 16  # NOT_COORDINATOR


def test_without_its_topic_there_is_no_coordinator() -> None:
    node = Node()
    groups = groups_of(node)
    node.create_topic("mine")
    assert groups._coordinator is None
    groups.stop()  # nothing to stop


def test_its_topic_makes_it() -> None:
    node = Node()
    groups = groups_of(node)
    node.create_topic(GROUP_METADATA_TOPIC)
    assert groups._coordinator is not None
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
