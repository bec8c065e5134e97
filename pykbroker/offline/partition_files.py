"""The files of a partition, as listed."""

from __future__ import annotations

from dataclasses import dataclass

from pykbroker.offline.faults import OfflineError
from pykbroker.offline.storage import join, split_name
from pykbroker.values import NamedTuple


@dataclass(frozen=True)
class SegmentFiles:
    """The files of one segment; sizes are those listed, and a path is None if the file does not
    exist.
    """

    base_offset: int
    path: str
    size_bytes: int
    index_path: str | None
    time_index_path: str | None
    txn_index_path: str | None

    @property
    def transaction_index(self) -> str:
        """Return its path even if it does not exist: a broker creates it at the first abort in a
        segment.
        """
        return self.txn_index_path or self.beside(".txnindex")

    def beside(self, suffix: str) -> str:
        """Return the path of the segment's file with this suffix, whether or not it exists."""
        directory, name = split_name(self.path)
        stem = name.removesuffix(".swap").removesuffix(".log")
        return join(directory, stem + suffix)


class ListingFault(NamedTuple):
    """A fault in a file's name, kind or contents, found while its directory was listed."""

    path: str
    reason: str
    #: Whether reading would silently omit or add records.
    is_in_the_way: bool


@dataclass(frozen=True)
class PartitionFiles:
    """One partition: its segments in order, and its entries in the checkpoints."""

    topic: str
    partition: int
    directory: str
    topic_id: bytes | None
    segments: tuple[SegmentFiles, ...]
    #: (offset, path) of the producer snapshots, in order.
    producer_snapshots: tuple[tuple[int, str], ...]
    log_start_offset: int
    #: None if the checkpoint has no entry for the partition.
    high_watermark: int | None
    #: Names of files that belong to no log.
    foreign: tuple[str, ...]
    faults: tuple[ListingFault, ...] = ()

    @property
    def size_bytes(self) -> int:
        return sum(segment.size_bytes for segment in self.segments)

    def refuse_faults(self) -> None:
        """Raise OfflineError for the first fault that prevents reading."""
        for fault in self.faults:
            if fault.is_in_the_way:
                raise OfflineError(f"{fault.path} {fault.reason}")

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
