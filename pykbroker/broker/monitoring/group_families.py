"""Groups that this node coordinates: kafka_exporter's `kafka_consumergroup_*`, and Kafka's own.

The lag of a partition is known where this node has a replica of it; the sum of a group's lags in a
topic counts those partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.broker.monitoring.families import Families
from pykbroker.coordinator.group.classic.states import GroupState

if TYPE_CHECKING:
    from pykbroker.coordinator.group.offset_store import TopicOffsets
    from pykbroker.coordinator.group.shard import GroupShard
    from pykbroker.replication.partition import Partition

FindPartition = Callable[[str, int], "Partition | None"]


class GroupFamilies:
    """Adds the machines of groups, one at a time; `finish` adds the totals."""

    def __init__(self, families: Families, find: FindPartition) -> None:
        """find: a partition that has a replica here, by topic and number."""
        self._families = families
        self._find = find
        prefix = "kafka_consumergroup"
        by_partition = ("consumergroup", "topic", "partition")
        by_topic = by_partition[:2]
        self._offset = families.gauge(
            f"{prefix}_current_offset", "The committed offset.", *by_partition
        )
        self._lag = families.gauge(
            f"{prefix}_lag", "Records between the committed offset and the end.", *by_partition
        )
        self._offset_sum = families.gauge(
            f"{prefix}_current_offset_sum", "The sum of the committed offsets.", *by_topic
        )
        self._lag_sum = families.gauge(f"{prefix}_lag_sum", "The sum of the lags.", *by_topic)
        self._members = families.gauge(f"{prefix}_members", "Members.", "consumergroup")
        self._states: Counter[GroupState] = Counter()
        self._offsets = 0

    def add(self, shard: GroupShard) -> None:
        """Read one machine."""
        for group_id, group in shard.groups.items():
            self._members.add(len(group.members), group_id)
            self._states[group.state] += 1
        for group_id, topics in shard.offsets.committed.items():
            self._add_offsets(group_id, topics)

    def _add_offsets(self, group_id: str, topics: TopicOffsets) -> None:
        for topic, partitions in topics.items():
            offsets = lags = known = 0
            for index, committed in partitions.items():
                labels = (group_id, topic, str(index))
                self._offset.add(committed.offset, *labels)
                offsets += committed.offset
                partition = self._find(topic, index)
                if partition is not None:
                    known += 1
                    lag = max(0, partition.high_watermark - committed.offset)
                    self._lag.add(lag, *labels)
                    lags += lag
            self._offsets += len(partitions)
            self._offset_sum.add(offsets, group_id, topic)
            if known:
                self._lag_sum.add(lags, group_id, topic)

    def finish(self) -> None:
        """Add the totals of the coordinator."""
        prefix = "kafka_coordinator_group_groupmetadatamanager"
        self._families.gauge(f"{prefix}_numoffsets", "Committed offsets.").add(self._offsets)
        self._families.gauge(f"{prefix}_numgroups", "Groups.").add(self._states.total())
        for state in GroupState:
            name = f"{prefix}_numgroups{state.value.lower()}"
            self._families.gauge(name, f"Groups that are {state.value}.").add(self._states[state])
