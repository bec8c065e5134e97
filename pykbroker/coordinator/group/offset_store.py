"""Committed offsets as replayed, on which `offsets.py` bases its decisions.

State: `committed[group][topic][partition]`; `pending`: offsets of open transactions per producer
    id, until its end marker is replayed.
In:  replay_commit, replay_tombstone, replay_end_of_transaction: the only mutators.
Invariants: no empty inner dict in `committed` and `open_by_group`; `open_by_group` names exactly
    what `pending` holds.
Source: Kafka's `OffsetMetadataManager.java`.
"""

from __future__ import annotations

from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.primitives import ZERO_UUID
from pykbroker.protocol.record_batch import NO_PRODUCER_ID

NO_EXPIRY = -1

TopicOffsets = dict[str, dict[int, "CommittedOffset"]]


class CommittedOffset:
    """One committed offset. `record_offset` is the position of its record in the coordinator's log;
    `expire_timestamp_ms` is -1 unless the client set a retention (API version 2 to 4).
    """

    __slots__ = (
        "commit_timestamp_ms",
        "expire_timestamp_ms",
        "leader_epoch",
        "metadata",
        "offset",
        "record_offset",
        "topic_id",
    )

    def __init__(
        self,
        offset: int,
        leader_epoch: int,
        metadata: str,
        commit_timestamp_ms: int,
        expire_timestamp_ms: int = NO_EXPIRY,
        topic_id: bytes = ZERO_UUID,
        record_offset: int = -1,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp_ms = commit_timestamp_ms
        self.expire_timestamp_ms = expire_timestamp_ms
        self.topic_id = topic_id
        self.record_offset = record_offset

    def as_tuple(self) -> tuple[int, int, str, int, int, bytes, int]:
        """Return all fields, to compare states."""
        return (
            self.offset,
            self.leader_epoch,
            self.metadata,
            self.commit_timestamp_ms,
            self.expire_timestamp_ms,
            self.topic_id,
            self.record_offset,
        )


class OffsetStore:
    """The committed offsets of one partition of `__consumer_offsets`."""

    __slots__ = ("committed", "open_by_group", "pending")

    def __init__(self) -> None:
        self.committed: dict[str, TopicOffsets] = {}
        self.pending: dict[int, dict[tuple[str, str, int], CommittedOffset]] = {}
        self.open_by_group: dict[str, dict[tuple[str, int], set[int]]] = {}

    # ---- questions

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """Return the committed offset of one partition."""
        topics = self.committed.get(group_id)
        partitions = None if topics is None else topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def is_open(self, group_id: str, topic: str, partition: int) -> bool:
        """Return whether an open transaction commits this partition."""
        return (topic, partition) in self.open_by_group.get(group_id, ())

    # ---- replay

    def replay_commit(
        self,
        group_id: str,
        topic: str,
        partition: int,
        value: OffsetCommitValue,
        record_offset: int,
        producer_id: int,
    ) -> None:
        """Replay an offset commit, which belongs to a transaction if it has a producer id."""
        entry = CommittedOffset(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            value.topic_id,
            record_offset,
        )
        if producer_id == NO_PRODUCER_ID:
            self._put(group_id, topic, partition, entry)
            return
        self.pending.setdefault(producer_id, {})[(group_id, topic, partition)] = entry
        group_open = self.open_by_group.setdefault(group_id, {})
        group_open.setdefault((topic, partition), set()).add(producer_id)

    def replay_tombstone(self, group_id: str, topic: str, partition: int) -> None:
        """Remove the offset, including pending ones."""
        topics = self.committed.get(group_id)
        if topics is not None:
            partitions = topics.get(topic)
            if partitions is not None and partitions.pop(partition, None) is not None:
                if not partitions:
                    del topics[topic]
                if not topics:
                    del self.committed[group_id]
        group_open = self.open_by_group.get(group_id)
        if group_open is None:
            return
        for producer_id in group_open.pop((topic, partition), ()):
            entries = self.pending.get(producer_id)
            if entries is not None:
                entries.pop((group_id, topic, partition), None)
        if not group_open:
            del self.open_by_group[group_id]

    def replay_end_of_transaction(self, producer_id: int, committed: bool) -> None:
        """Replay a transaction's end marker.

        A commit replaces an offset only if that has an older record: compaction may have removed
        the others, and the newest record of a key wins.
        """
        entries = self.pending.pop(producer_id, None)
        if entries is None:
            return
        for (group_id, topic, partition), entry in entries.items():
            self._close(group_id, topic, partition, producer_id)
            if committed:
                existing = self.get(group_id, topic, partition)
                if existing is None or entry.record_offset > existing.record_offset:
                    self._put(group_id, topic, partition, entry)

    def _put(self, group_id: str, topic: str, partition: int, entry: CommittedOffset) -> None:
        topics = self.committed.get(group_id)
        if topics is None:
            topics = self.committed[group_id] = {}
        partitions = topics.get(topic)
        if partitions is None:
            partitions = topics[topic] = {}
        partitions[partition] = entry

    def _close(self, group_id: str, topic: str, partition: int, producer_id: int) -> None:
        group_open = self.open_by_group.get(group_id)
        if group_open is None:
            return
        producers = group_open.get((topic, partition))
        if producers is None:
            return
        producers.discard(producer_id)
        if not producers:
            del group_open[(topic, partition)]
            if not group_open:
                del self.open_by_group[group_id]
