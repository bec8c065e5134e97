from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.monitoring.families import Families
from pykbroker.broker.monitoring.group_families import GroupFamilies
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.offset_store import CommittedOffset
from tests.broker.monitoring.test_node_families import values


def find(topic: str, index: int) -> Any:
    """Partition 0 of every topic has a replica here, with 100 committed records."""
    return SimpleNamespace(high_watermark=100) if index == 0 else None


def machine(group: str, state: GroupState, members: int, **committed: dict[int, int]) -> Any:
    topics = {
        topic: {index: CommittedOffset(offset, -1, "", 0) for index, offset in offsets.items()}
        for topic, offsets in committed.items()
    }
    return SimpleNamespace(
        groups={group: SimpleNamespace(state=state, members=dict.fromkeys(range(members)))},
        offsets=SimpleNamespace(committed={group: topics}),
    )


def test_offsets_lag_and_members() -> None:
    families = Families()
    reader = GroupFamilies(families, find)
    reader.add(machine("a", GroupState.STABLE, 2, t={0: 30, 1: 7}, far={1: 4}))
    reader.add(machine("b", GroupState.EMPTY, 0, t={0: 120}))  # the log was cut since
    reader.finish()
    prefix = "kafka_consumergroup"
    assert values(families, f"{prefix}_current_offset") == {
        ("a", "t", "0"): 30,
        ("a", "t", "1"): 7,
        ("a", "far", "1"): 4,
        ("b", "t", "0"): 120,
    }
    assert values(families, f"{prefix}_lag") == {("a", "t", "0"): 70, ("b", "t", "0"): 0}
    assert values(families, f"{prefix}_current_offset_sum") == {
        ("a", "t"): 37,
        ("a", "far"): 4,
        ("b", "t"): 120,
    }
    assert values(families, f"{prefix}_lag_sum") == {("a", "t"): 70, ("b", "t"): 0}
    assert values(families, f"{prefix}_members") == {("a",): 2, ("b",): 0}
    coordinator = "kafka_coordinator_group_groupmetadatamanager"
    assert values(families, f"{coordinator}_numgroups") == {(): 2}
    assert values(families, f"{coordinator}_numoffsets") == {(): 4}
    assert values(families, f"{coordinator}_numgroupsstable") == {(): 1}
    assert values(families, f"{coordinator}_numgroupsempty") == {(): 1}
    assert values(families, f"{coordinator}_numgroupsdead") == {(): 0}
