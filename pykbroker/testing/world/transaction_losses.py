"""What a power failure may take from transactions, read from the logs when a process ends.

What follows the recovery point of a log, that is, what was not flushed, may be lost: a record, the
marker of its transaction, what the coordinator wrote about a transactional id, the offsets of a
group. Records and offsets that have no marker yet are listed too, flushed or not: if the
coordinator's log is cut, nothing may end them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pykbroker.coordinator.record_codecs import (
    GROUP_RECORD_TYPES,
    TRANSACTION_RECORD_TYPES,
    RecordCodec,
)
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.record import Record
from pykbroker.protocol.record_batch import iter_records
from pykbroker.testing.world.ledger import ID_HEADER, batches_of
from pykbroker.testing.world.transaction_ledger import Losses

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer

_GROUP_CODEC = RecordCodec(GROUP_RECORD_TYPES)
_TRANSACTION_CODEC = RecordCodec(TRANSACTION_RECORD_TYPES)


def losses_of(server: BrokerServer, topic: str) -> Losses:
    """Return what this node may lose of transactions by a power failure now. `topic`: where their
    records are.
    """
    records, offsets = _Markers(), _Markers()
    forgotten: set[str] = set()
    ends = {}
    for partition in server.replica_manager.partitions():
        log = partition.log
        if partition.topic == TRANSACTION_STATE_TOPIC:
            forgotten.update(_written_ids(log))
        elif partition.topic == topic:
            ends[partition.index] = log.recovery_point
            records.scan(log, _identity)
        elif partition.topic == GROUP_METADATA_TOPIC:
            offsets.scan(log, _committed_offset)
    return Losses(
        transactional_ids=frozenset(forgotten),
        lost=frozenset(records.lost),
        without_marker=frozenset(records.open),
        ends=ends,
        lost_offsets=frozenset(offsets.lost),
        offsets_without_marker=frozenset(offsets.open),
    )


class _Markers:
    """Collects names of records from logs: `lost`, if the record or the marker behind it was not
    flushed; `open`, if it is transactional and has no marker.
    """

    def __init__(self) -> None:
        self.lost: set[Any] = set()
        self.open: set[Any] = set()

    def scan(self, log: PartitionLog, name_of: Callable[[Record], object]) -> None:
        """Process one log; `name_of` returns None for records that do not matter."""
        open_of: dict[int, set[object]] = {}
        for header, batch in batches_of(log):
            is_safe = header.last_offset < log.recovery_point
            if header.is_control:
                ended = open_of.pop(header.producer_id, set())
                if not is_safe:
                    self.lost |= ended
                continue
            names = {name_of(record) for record in iter_records(batch)} - {None}
            if not is_safe:
                self.lost |= names
            if header.is_transactional:
                open_of.setdefault(header.producer_id, set()).update(names)
        self.open |= set().union(*open_of.values())


def _identity(record: Record) -> bytes | None:
    return dict(record.headers).get(ID_HEADER)


def _committed_offset(record: Record) -> int | None:
    decoded = _GROUP_CODEC.decode(record.key or b"", record.value)
    value = None if decoded is None else decoded.value
    return value.offset if isinstance(value, OffsetCommitValue) else None


def _written_ids(log: PartitionLog) -> Iterator[str]:
    """Yield the transactional ids in batches that were not flushed."""
    for header, batch in batches_of(log):
        if header.last_offset < log.recovery_point or header.is_control:
            continue
        for record in iter_records(batch):
            decoded = _TRANSACTION_CODEC.decode(record.key or b"", record.value)
            if decoded is not None:
                yield decoded.key.transactional_id
