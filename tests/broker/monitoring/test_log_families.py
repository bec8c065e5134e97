from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.monitoring.families import Families
from pykbroker.broker.monitoring.log_families import PartitionFamilies
from pykbroker.log.producers.producer_entry import ProducerStateEntry
from pykbroker.log.producers.producer_state import LATE_BUFFER_MS, ProducerStateManager
from tests.broker.monitoring.test_node_families import values

NOW_MS = 10_000_000
MAX_TRANSACTION_MS = 60_000


def producers(*last_ms: int) -> ProducerStateManager:
    """Each has a transaction open, with a last record of that time."""
    state = ProducerStateManager("t-0")
    state.load(
        [ProducerStateEntry(10 + n, 0, 0, at_ms, 100 + n, []) for n, at_ms in enumerate(last_ms)],
        200,
    )
    return state


def partition(index: int, *, leader: int = 1, isr: tuple[int, ...] = (1, 2), **more: Any) -> Any:
    """One of topic t with three replicas; this node is 1."""
    log = SimpleNamespace(
        size_bytes=100 + index,
        segments=[None, None],
        log_start_offset=5,
        log_end_offset=25,
        config=SimpleNamespace(min_insync_replicas=2),
        producers=producers(*more.pop("open_since_ms", ())),
    )
    fields = {
        "topic": "t",
        "index": index,
        "log": log,
        "hosted": True,
        "is_leader": leader == 1,
        "leader": leader,
        "replicas": (1, 2, 3),
        "isr": SimpleNamespace(members=frozenset(isr)),
        "high_watermark": 20,
    }
    return SimpleNamespace(**{**fields, **more})


def read(*partitions: Any) -> Families:
    families = Families()
    reader = PartitionFamilies(families, NOW_MS, MAX_TRANSACTION_MS)
    reader.add(partitions[:1])
    reader.add(partitions[1:])
    reader.finish()
    return families


def test_logs_of_leaders_and_followers() -> None:
    families = read(partition(0), partition(1, leader=2), partition(2, hosted=False))
    assert values(families, "kafka_log_log_size") == {("t", "0"): 100, ("t", "1"): 101}
    assert values(families, "kafka_log_log_numlogsegments")["t", "0"] == 2
    assert values(families, "kafka_log_log_logstartoffset")["t", "1"] == 5
    assert values(families, "kafka_log_log_logendoffset")["t", "1"] == 25
    manager = "kafka_server_replicamanager"
    assert values(families, f"{manager}_partitioncount") == {(): 2}
    assert values(families, f"{manager}_leadercount") == {(): 1}


def test_late_transactions_of_partitions_that_this_node_leads() -> None:
    late_ms = NOW_MS - MAX_TRANSACTION_MS - LATE_BUFFER_MS - 1
    families = read(
        partition(0, open_since_ms=(late_ms, late_ms)),
        partition(1, open_since_ms=(late_ms + 1, NOW_MS)),
        partition(2, open_since_ms=(late_ms,), leader=2),
        partition(3),
    )
    manager = "kafka_server_replicamanager"
    assert values(families, f"{manager}_partitionswithlatetransactionscount") == {(): 1}
    assert values(families, f"{manager}_produceridcount") == {(): 5}


def test_what_is_in_sync() -> None:
    families = read(
        partition(0, isr=(1, 2, 3)),
        partition(1, isr=(1, 2)),
        partition(2, isr=(1,)),
        partition(3, isr=(2,), leader=2),  # for its leader to report
    )
    cluster = "kafka_cluster_partition"
    by_name = {
        name: {number: value for (_, number), value in values(families, name).items()}
        for name in (
            f"{cluster}_underreplicated",
            f"{cluster}_atminisr",
            f"{cluster}_underminisr",
            f"{cluster}_insyncreplicascount",
            f"{cluster}_replicascount",
        )
    }
    assert by_name == {
        f"{cluster}_underreplicated": {"0": 0, "1": 1, "2": 1, "3": 0},
        f"{cluster}_atminisr": {"0": 0, "1": 1, "2": 0, "3": 0},
        f"{cluster}_underminisr": {"0": 0, "1": 0, "2": 1, "3": 0},
        f"{cluster}_insyncreplicascount": {"0": 3, "1": 2, "2": 1, "3": 0},
        f"{cluster}_replicascount": {"0": 3, "1": 3, "2": 3, "3": 0},
    }
    manager = "kafka_server_replicamanager"
    assert values(families, f"{manager}_underreplicatedpartitions") == {(): 2}
    assert values(families, f"{manager}_atminisrpartitioncount") == {(): 1}
    assert values(families, f"{manager}_underminisrpartitioncount") == {(): 1}


def test_kafka_exporters_names_are_for_leaders() -> None:
    families = read(partition(0), partition(1, leader=2), partition(2, replicas=(3, 1)))
    prefix = "kafka_topic_partition"
    first, third = ("t", "0"), ("t", "2")
    assert values(families, f"{prefix}_current_offset") == {first: 20, third: 20}
    assert values(families, f"{prefix}_oldest_offset") == {first: 5, third: 5}
    assert values(families, f"{prefix}_leader") == {first: 1, third: 1}
    assert values(families, f"{prefix}_replicas") == {first: 3, third: 2}
    assert values(families, f"{prefix}_in_sync_replica") == {first: 2, third: 2}
    assert values(families, f"{prefix}_leader_is_preferred") == {first: 1, third: 0}
    assert values(families, f"{prefix}_under_replicated_partition") == {first: 1, third: 0}
