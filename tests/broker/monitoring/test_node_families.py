from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers.delete_records import WaitingDelete
from pykbroker.broker.monitoring.families import Families, Family
from pykbroker.broker.monitoring.node_families import (
    add_connections,
    add_counters,
    add_directories,
    add_purgatory,
    add_state,
)
from pykbroker.broker.node_state import NodeState
from pykbroker.broker.prepared.produce_ticket import WaitingTicket
from pykbroker.broker.requests.fetching import WaitingFetch
from pykbroker.broker.requests.pending_produce import PendingProduce
from pykbroker.broker.transactions.transaction_markers import PendingMarkers
from pykbroker.metrics import Counters
from pykbroker.purgatory import DelayedOperation, Purgatory


def values(families: Families, name: str) -> dict[tuple[str, ...], float]:
    family = families[name]
    assert isinstance(family, Family)
    return dict(family.samples)


@pytest.mark.parametrize("state", NodeState)
def test_every_state_has_a_number(state: NodeState) -> None:
    families = Families()
    add_state(families, state, "1.2")
    number = values(families, "kafka_server_kafkaserver_brokerstate")[()]
    assert (number == 3) == (state is NodeState.SERVING)
    assert values(families, "pykbroker_build_info") == {("1.2",): 1}


def test_every_counter_is_exported() -> None:
    counters = Counters()
    for number, name in enumerate(Counters.__slots__, 1):
        setattr(counters, name, number)
    families = Families()
    add_counters(families, counters)
    network: Any = SimpleNamespace(
        counters=counters, connections={}, listeners=[], channel=SimpleNamespace(queue=())
    )
    add_connections(families, network)
    exported = {
        value
        for family in families
        if isinstance(family, Family) and family.name.endswith("_total")
        for _, value in family.samples
    }
    assert exported == set(counters.snapshot().values())
    assert values(families, "kafka_server_brokertopicmetrics_messagesin_total") == {
        (): counters.messages_in
    }


def test_connections_by_listener() -> None:
    plain, inside = SimpleNamespace(name="PLAIN"), SimpleNamespace(name="INSIDE")
    connection = SimpleNamespace(listener=plain)
    network: Any = SimpleNamespace(
        counters=Counters(),
        connections={1: None},
        listeners=[plain, inside],
        channel=SimpleNamespace(queue=deque("abc")),
    )
    network.connections = [connection, connection]
    families = Families()
    add_connections(families, network)
    open_ = values(families, "kafka_server_socket_server_metrics_connection_count")
    assert open_ == {("PLAIN",): 2, ("INSIDE",): 0}
    assert values(families, "kafka_network_requestchannel_requestqueuesize") == {(): 3}


class Waiting(DelayedOperation):
    """Of no kind that Kafka has a name for."""

    def try_complete(self) -> bool:
        return False

    def expire(self) -> None: ...


@pytest.mark.parametrize(
    ("kind", "of_kafka"),
    [
        (PendingProduce, "Produce"),
        (PendingMarkers, "Produce"),
        (WaitingTicket, "Produce"),
        (WaitingFetch, "Fetch"),
        (WaitingDelete, "DeleteRecords"),
    ],
)
def test_the_kinds_have_kafkas_names(kind: type[DelayedOperation], of_kafka: str) -> None:
    name = kind.KIND
    assert name == of_kafka


def test_what_waits_by_kind() -> None:
    purgatory = Purgatory(0)

    class Produce(Waiting):
        KIND = PendingProduce.KIND

    for number in range(3):
        purgatory.watch(Produce(), [number], 1000)
    purgatory.watch(Waiting(), [7], 1000)
    families = Families()
    add_purgatory(families, purgatory)
    sizes = values(families, "kafka_server_delayedoperationpurgatory_purgatorysize")
    assert sizes == {("Produce",): 3, ("Fetch",): 0, ("Other",): 1}


def test_failed_directories() -> None:
    good, bad = (
        SimpleNamespace(path="/a", is_online=True),
        SimpleNamespace(path="/b", is_online=False),
    )
    log_manager: Any = SimpleNamespace(directories=[good, bad])
    families = Families()
    add_directories(families, log_manager)
    assert values(families, "kafka_log_logmanager_logdirectoryoffline") == {
        ("/a",): 0,
        ("/b",): 1,
    }
    assert values(families, "kafka_log_logmanager_offlinelogdirectorycount") == {(): 1}
