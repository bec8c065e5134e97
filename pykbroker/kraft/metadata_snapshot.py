"""Metadata snapshots: `<offset>-<epoch>.checkpoint` files beside the metadata log.

    00000000000000012345-0000000007.checkpoint     everything below offset 12345, epoch 7
      control batch   SnapshotHeader, and from kraft.version 1 KRaftVersion and KRaftVoters
      batches         the records of the image
      control batch   SnapshotFooter: without it the snapshot is incomplete

Offsets inside count from 0 and have no meaning. `00000000000000000000-0000000000` is written when
the directory is formatted: its metadata records take effect when a controller has written them to
the log.
A snapshot is written under the suffix `.part`, synced, made read only, and renamed.
Source: Kafka's `Snapshots.java`, `RecordsSnapshotWriter.java`, `RaftSnapshotWriter.java`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from pykbroker.decision import MetadataRecord
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_record_codec import decode_metadata_record, encode_metadata_record
from pykbroker.kraft.raft.voters import VoterSet
from pykbroker.protocol.control_records import build_control_batch, decode_message
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.snapshot_footer_record import SnapshotFooterRecord
from pykbroker.protocol.messages.snapshot_header_record import SnapshotHeaderRecord
from pykbroker.protocol.messages.voters_record import VotersRecord
from pykbroker.protocol.record_batch import (
    CorruptBatch,
    build_batch,
    check_crc,
    iter_batches,
    iter_records,
)
from pykbroker.values import NamedTuple

SUFFIX: Final = ".checkpoint"
PARTIAL_SUFFIX: Final = ".checkpoint.part"
RECORDS_PER_BATCH: Final = 1024

_NAME = re.compile(r"(\d{20})-(\d{10})\.checkpoint\Z").match


class CorruptSnapshot(Exception):
    """A snapshot file is incomplete or damaged."""


class SnapshotId(NamedTuple):
    """Identifies the records in a snapshot: all below `offset`, the last of them in `epoch`."""

    offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        """`00000000000000012345-0000000007.checkpoint`"""
        return f"{self.offset:020d}-{self.epoch:010d}{SUFFIX}"

    @classmethod
    def from_file_name(cls, name: str) -> SnapshotId | None:
        """Parse a file name; None if it is not that of a snapshot."""
        match = _NAME(name)
        return None if match is None else cls(int(match[1]), int(match[2]))


BOOTSTRAP: Final = SnapshotId(0, 0)


class Snapshot(NamedTuple):
    """The contents of a snapshot file. `image`: built from the records, which are not kept then."""

    id: SnapshotId
    last_contained_log_timestamp_ms: int
    kraft_version: int
    voters: VoterSet | None
    records: list[MetadataRecord]
    image: MetadataImage | None = None


def encode_snapshot(
    snapshot_id: SnapshotId,
    records: Iterable[MetadataRecord],
    *,
    kraft_version: int,
    voters: VoterSet | None,
    last_contained_log_timestamp_ms: int,
    now_ms: int,
) -> Iterator[bytearray]:
    """Yield the batches of a snapshot file, one after another."""
    header: list[SnapshotHeaderRecord | KRaftVersionRecord | VotersRecord]
    header = [SnapshotHeaderRecord(last_contained_log_timestamp=last_contained_log_timestamp_ms)]
    if kraft_version > 0:
        header.append(KRaftVersionRecord(kraft_version=kraft_version))
        if voters is not None:
            header.append(voters.to_record())
    epoch = snapshot_id.epoch
    yield build_control_batch(header, timestamp_ms=now_ms, base_offset=0, leader_epoch=epoch)
    offset = len(header)
    source = iter(records)
    while chunk := list(islice(source, RECORDS_PER_BATCH)):
        values = [(None, encode_metadata_record(record), now_ms, ()) for record in chunk]
        yield build_batch(values, base_offset=offset, leader_epoch=epoch)
        offset += len(chunk)
    footer = [SnapshotFooterRecord()]
    yield build_control_batch(footer, timestamp_ms=now_ms, base_offset=offset, leader_epoch=epoch)


def decode_snapshot(snapshot_id: SnapshotId, content: bytes) -> Snapshot:
    """Decode a snapshot file. Raises CorruptSnapshot if it is incomplete or damaged, DecodeError
    for a record that is invalid or unknown to this release.
    """
    timestamp, kraft_version = -1, 0
    voters: VoterSet | None = None
    records: list[MetadataRecord] = []
    finished = False
    try:
        for header, batch in iter_batches(memoryview(content)):
            if not check_crc(batch):
                raise CorruptSnapshot(f"{snapshot_id.file_name}: a batch fails its checksum")
            for record in iter_records(batch, header):
                if not header.is_control:
                    records.append(decode_metadata_record(record.value or b""))
                    continue
                message = decode_message(record)
                if isinstance(message, SnapshotHeaderRecord):
                    timestamp = message.last_contained_log_timestamp
                elif isinstance(message, KRaftVersionRecord):
                    kraft_version = message.kraft_version
                elif isinstance(message, VotersRecord):
                    voters = VoterSet.from_record(message)
                elif isinstance(message, SnapshotFooterRecord):
                    finished = True
    except CorruptBatch as fault:
        raise CorruptSnapshot(f"{snapshot_id.file_name}: {fault}") from fault
    if not finished:
        raise CorruptSnapshot(f"{snapshot_id.file_name}: the footer is missing")
    return Snapshot(snapshot_id, timestamp, kraft_version, voters, records)
