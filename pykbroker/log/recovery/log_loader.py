"""Reads a partition's directory and turns whatever a crash left behind into valid segments.

    *.deleted             unlinked, but not a *.checkpoint.deleted
    *.cleaned             unlinked, with every *.swap at or above the lowest of them
    *.swap                a finished compaction or split: replaces the segments that it covers
    index without a .log  unlinked
    .log with an index that is missing or cannot be valid: checked and indexed again
    unclean shutdown      every batch from the recovery point on is checked; at the first bad one
                          the segment is cut, and the segments after it are deleted; so is an
                          empty last segment behind a hole, if the log was never compacted
    offsets that are more than 31 bits apart in a .log      it is split (segment_split.py)
    a log that ends before its start offset, unless nothing of it is lost: it begins anew there

If the first fault is an intact batch with impossible offsets, no batch is cut: OffsetsOutOfPlace
asks for an operator's decision. Reading the same directory twice gives the same log.

Source: Kafka's LogLoader.java.
"""

from __future__ import annotations

import contextlib
import logging
import os

from pykbroker.config import TopicConfig
from pykbroker.environment.files import Files
from pykbroker.log.directories.epoch_checkpoint import EpochCheckpoint
from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.recovery.damage import OffsetsOverflow, sound_header_at
from pykbroker.log.recovery.segment_recovery import (
    END_OF_TIME,
    rebuild_producer_state,
    recover_segment,
)
from pykbroker.log.segments.index_files import CorruptIndex
from pykbroker.log.segments.segment import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    INDEX_SUFFIXES,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    CorruptSegment,
    Segment,
    segment_path,
)
from pykbroker.log.segments.segment_list import SegmentList
from pykbroker.log.segments.segment_split import overflows, split_segment
from pykbroker.types import TopicPartition

_log = logging.getLogger(__name__)

SNAPSHOT_DELETED = ".checkpoint.deleted"


class LogLoader:
    """One opening of one directory."""

    def __init__(
        self,
        files: Files,
        directory: str,
        topic_partition: TopicPartition,
        config: TopicConfig,
        *,
        now_ms: int,
        is_clean: bool,
        recovery_point: int,
        log_start_offset: int,
        is_contiguous: bool,
        producer_id_expiration_ms: int,
    ) -> None:
        self.files = files
        self.directory = directory
        self.topic_partition = topic_partition
        self.config = config
        self.now_ms = now_ms
        self.is_clean = is_clean
        self.recovery_point = recovery_point
        self.log_start_offset = log_start_offset
        self.is_contiguous = is_contiguous
        self.epochs = EpochCheckpoint(files, directory)
        self.snapshots = ProducerSnapshots(
            files, directory, str(topic_partition), producer_id_expiration_ms
        )
        self.segments = SegmentList()
        self.deleted: set[int] = set()
        """The base offsets of segments whose deletion a crash has interrupted."""
        self.recovered: list[Segment] = []
        """Segments whose indexes were rebuilt, and that the next flush has to sync."""
        self.has_new_names = False
        """Files were created, and the next flush has to sync the directory."""

    def load(self) -> int:
        """Load the directory and return the log end offset; the other results are attributes.
        Raises OSError, OffsetsOutOfPlace.
        """
        self.finish_interrupted_work()
        end_offset = self.load_all_segments()
        first = self.segments.first.base_offset
        self.log_start_offset = max(self.log_start_offset, first)
        self.epochs.truncate_from_end(end_offset)
        self.epochs.truncate_from_start(self.log_start_offset)
        self.snapshots.remove_stray(self.segments.base_offsets)
        found = set(self.snapshots.offsets)
        rebuild_producer_state(
            self.snapshots,
            self.segments,
            self.log_start_offset,
            end_offset,
            self.is_clean,
        )
        self.has_new_names |= not found.issuperset(self.snapshots.offsets)
        return end_offset

    # -- leftovers ------------------------------------------------------------------------------

    def finish_interrupted_work(self) -> None:
        names = self.files.listdir(self.directory)
        cleaned = [name for name in names if name.endswith(CLEANED_SUFFIX)]
        swaps = [name for name in names if name.endswith(SWAP_SUFFIX)]
        for name in names:
            if name.endswith(DELETED_SUFFIX) and not name.endswith(SNAPSHOT_DELETED):
                self.unlink(name)
                self.deleted.add(offset_of(name))
        lowest_cleaned = min((offset_of(name) for name in cleaned), default=END_OF_TIME)
        for name in swaps:
            if offset_of(name) >= lowest_cleaned:  # an incomplete swap
                self.unlink(name)
        for name in cleaned:
            self.unlink(name)
        swaps = [name for name in swaps if offset_of(name) < lowest_cleaned]
        if swaps:
            self.finish_swap(swaps)

    def finish_swap(self, swaps: list[str]) -> None:
        """Delete the segments that the compacted ones replace, then give these their names."""
        low, high = END_OF_TIME, -1
        for name in swaps:
            if name.endswith(LOG_SUFFIX + SWAP_SUFFIX):
                base = offset_of(name)
                segment = Segment(
                    self.files, self.directory, base, self.config, self.now_ms, suffix=SWAP_SUFFIX
                )
                low = min(low, base)
                high = max(high, segment_end(segment))
                segment.release()
        for name in self.files.listdir(self.directory):
            is_segment_file = name.endswith((LOG_SUFFIX, *INDEX_SUFFIXES, ".snapshot"))
            if is_segment_file and low <= offset_of(name) < high:
                _log.info("Deleting %s/%s: it was compacted", self.directory, name)
                self.unlink(name)
        for name in swaps:
            path = f"{self.directory}/{name}"
            _log.info("Recovering %s from an interrupted swap by renaming", path)
            self.files.rename(path, path.removesuffix(SWAP_SUFFIX))
        self.files.sync_dir(self.directory)

    def unlink(self, name: str) -> None:
        self.files.unlink(f"{self.directory}/{name}")

    # -- segments -------------------------------------------------------------------------------

    def load_all_segments(self) -> int:
        """Load the segments, splitting those that overflow until none does;
        return the log end offset.
        """
        while True:
            try:
                self.load_segments()
                if not self.is_clean:
                    self.recover_unflushed()
                    if self.is_contiguous:
                        self.remove_empty_end()
                return self.find_end_offset()
            except OffsetsOverflow as fault:
                split_segment(self.files, fault.segment)
                for segment in self.segments:
                    segment.release()
                self.segments = SegmentList()

    def load_segments(self) -> None:
        sizes = self.files.list_sizes(self.directory)
        self.snapshots.found(sizes)
        orphaned: list[int] = []
        for name in sorted(sizes):
            if name.endswith(INDEX_SUFFIXES) and is_segment_name(name):
                base = offset_of(name)
                if os.path.basename(segment_path("", base)) not in sizes:
                    _log.warning("Found an orphaned index file %s/%s", self.directory, name)
                    self.unlink(name)
                    if name.endswith(INDEX_SUFFIX):
                        orphaned.append(base)
        for name in sorted(sizes):
            if name.endswith(LOG_SUFFIX) and is_segment_name(name):
                segment = Segment(
                    self.files, self.directory, offset_of(name), self.config, self.now_ms
                )
                fault = self.index_fault(segment, sizes)
                if fault is not None and not self.is_recovered_anyway(segment):
                    _log.warning("%s: %s; rebuilding its indexes", segment.file.path, fault)
                    self.recover(segment, cuts=False)
                    segment.sync()  # now, because no flush may follow
                    self.files.sync_dir(self.directory)
                self.segments.add(segment)
        self.require_no_overflow()
        if len(self.segments):
            self.tell_lost_start(orphaned)
        if self.is_contiguous:
            self.tell_losses(orphaned)

    def require_no_overflow(self) -> None:
        """Raise OffsetsOverflow for a segment that overflows; only closed segments with a distant
        successor, which are not recovered anyway, are checked.
        """
        for segment in self.segments:
            following = self.segments.higher(segment.base_offset)
            if (
                following is not None
                and overflows(segment, following.base_offset)
                and not self.is_recovered_anyway(segment)
            ):
                self.require_no_overflow_of(segment, segment_end(segment))

    def require_no_overflow_of(self, segment: Segment, end_offset: int) -> None:
        if overflows(segment, end_offset):
            raise OffsetsOverflow(segment, end_offset - 1)

    def tell_losses(self, orphaned: list[int]) -> None:
        """Report closed segments whose log file is missing (its index is there) or empty, which is
        visible without scanning.
        """
        emptied = [
            s.base_offset for s in self.segments if not s.size and s is not self.segments.last
        ]
        for base in sorted({*orphaned, *emptied}):
            following = self.segments.higher(base)
            if following is not None and self.segments.first.base_offset <= base:
                _log.error(
                    "%s: %s is missing or empty: offsets %d to %d are lost",
                    self.topic_partition,
                    segment_path(self.directory, base),
                    base,
                    following.base_offset - 1,
                )

    def tell_lost_start(self, orphaned: list[int]) -> None:
        """Report it if the first log files were deleted from outside. An index without its log
        file tells where the log began, unless a deletion was interrupted; after a clean shutdown
        the checkpoints do, too, because they follow its start.
        """
        first = self.segments.first.base_offset
        known = [base for base in orphaned if base not in self.deleted]
        if self.is_clean:
            if self.epochs.earliest is not None:
                known.append(self.epochs.earliest[1])
            if self.log_start_offset:
                known.append(self.log_start_offset)
        began = max(min(known, default=first), self.log_start_offset)
        if began < first:
            _log.error(
                "%s: the log files before %s are missing: offsets %d to %d are lost",
                self.topic_partition,
                self.segments.first.file.path,
                began,
                first - 1,
            )

    def is_recovered_anyway(self, segment: Segment) -> bool:
        return not self.is_clean and segment.base_offset >= self.recovery_point

    def index_fault(self, segment: Segment, sizes: dict[str, int]) -> str | None:
        """Return why the indexes of the segment cannot be valid, judging by the sizes of the offset
        and time index and the content of the transaction index; None if they may be valid.
        """
        for index in (segment.offset_index, segment.time_index):
            name = os.path.basename(index.path)
            size = sizes.get(name)
            if size is None:
                if segment.size:
                    return f"{name} is missing"
            elif size % index.ENTRY_BYTES:
                return f"{name} has {size} bytes, not a multiple of {index.ENTRY_BYTES}"
        if os.path.basename(segment.txn_index.path) in sizes:
            try:
                segment.txn_index.load()
            except CorruptIndex as fault:
                return str(fault)
        return None

    def recover(self, segment: Segment, limit: int = END_OF_TIME, *, cuts: bool = True) -> int:
        """Check one segment with producer state as of its start; return the number of bytes cut."""
        snapshots = self.snapshots.fresh_copy()
        rebuild_producer_state(snapshots, self.segments, self.log_start_offset, segment.base_offset)
        cut = recover_segment(segment, snapshots, self.epochs, limit, cuts=cuts)
        # The next segment starts from here instead of scanning this one again.
        snapshots.take()
        self.recovered.append(segment)
        self.has_new_names = True
        return cut

    def recover_unflushed(self) -> None:
        unflushed = self.segments.within(self.recovery_point, END_OF_TIME)
        for number, segment in enumerate(unflushed):
            _log.info(
                "%s: recovering segment %d of %d at offset %d",
                self.topic_partition,
                number + 1,
                len(unflushed),
                segment.base_offset,
            )
            self.segments.remove(segment)
            later = unflushed[number + 1 :]
            cut = self.recover(segment, later[0].base_offset if later else END_OF_TIME)
            self.segments.add(segment)
            if later and cut:
                self.remove_behind(segment, later)
                return
            if later and self.is_contiguous:
                self.tell_hole(segment, later[0])

    def tell_hole(self, segment: Segment, following: Segment) -> None:
        """Report a hole between two segments, if there is one: a power failure may lose pages of a
        file and keep those of a file written later.

        The log continues after such a hole, as in Kafka: it cannot be distinguished with certainty
        from the result of compaction, and the records after it may have been acknowledged.
        """
        end = segment.next_offset()
        if end != following.base_offset:
            _log.error(
                "%s: %s ends at offset %d, the next segment begins at %d: the offsets between "
                "are lost",
                self.topic_partition,
                segment.file.path,
                end,
                following.base_offset,
            )

    def remove_behind(self, cut: Segment, later: list[Segment]) -> None:
        """Delete the segments after one that was cut, as Kafka does.

        The directory is synced: after a power failure they would be taken for the end of the log
        that has begun in their place.
        """
        for lost in later:
            header = sound_header_at(lost, 0) if lost.size else None
            _log.log(
                logging.WARNING if header is None else logging.ERROR,
                "%s: deleting %s after the bad bytes of %s: %d bytes, offset %d and up, which %s",
                self.topic_partition,
                lost.file.path,
                cut.file.path,
                lost.size,
                lost.base_offset,
                "begin with no intact batch" if header is None else "begin with an intact batch",
            )
            self.remove(lost)
        self.files.sync_dir(self.directory)

    def remove_empty_end(self) -> None:
        """Delete empty last segments behind a hole, so that the log ends at the hole.

        One is kept if the hole begins before the recovery point or the log start offset.

        Nothing is lost with them. A leader that kept one would end at an offset that no follower
        could reach, so none would ever join the ISR. The directory is synced: a segment that came
        back would overlap the records that are written in its place.
        """
        least = max(self.recovery_point, self.log_start_offset)
        while len(self.segments) > 1 and not self.segments.last.size:
            last = self.segments.last
            if last.base_offset <= least:
                return  # the segment before it was not recovered, and may be damaged
            before = self.segments.lower(last.base_offset)
            assert before is not None
            end_offset = before.next_offset()
            if not least <= end_offset < last.base_offset:
                return
            _log.warning(
                "%s: deleting %s, which is empty: the log continues at offset %d",
                self.topic_partition,
                last.file.path,
                end_offset,
            )
            self.remove(last)
            self.files.sync_dir(self.directory)

    def remove(self, segment: Segment) -> None:
        self.segments.remove(segment)
        segment.release()
        for path in segment.paths():
            self.files.unlink(path)
        self.snapshots.delete(segment.base_offset)

    def find_end_offset(self) -> int:
        """Return the end offset of the last segment, creating one if there is none.

        A log that ends before its start offset is deleted and begins anew there, unless nothing of
        it is lost: then the start offset is ignored.
        """
        if len(self.segments):
            end_offset = self.end_of_last_segment()
            if end_offset >= self.log_start_offset:
                return end_offset
            if self.is_clean and self.recovery_point <= end_offset:
                _log.error(
                    "%s: the checkpointed log start offset %d is ignored: %s ends at %d, and "
                    "nothing of it is lost",
                    self.topic_partition,
                    self.log_start_offset,
                    self.directory,
                    end_offset,
                )
                self.log_start_offset = self.segments.first.base_offset
                return end_offset
            _log.warning(
                "%s: deleting all segments, the log ends at %d before its start offset %d",
                self.topic_partition,
                end_offset,
                self.log_start_offset,
            )
            for segment in list(self.segments):
                self.remove(segment)
            self.epochs.clear()
            self.snapshots.truncate_fully_and_start_at(self.log_start_offset)
        self.segments.add(
            Segment.create(
                self.files, self.directory, self.log_start_offset, self.config, self.now_ms
            )
        )
        return self.log_start_offset

    def end_of_last_segment(self) -> int:
        """Return the end of the last segment. Even after a clean shutdown, it is recovered, and cut
        at damage, if its index or its end does not parse.
        """
        last = self.segments.last
        try:
            end_offset = last.next_offset()
        except (CorruptSegment, CorruptIndex) as fault:
            _log.warning("%s: %s; recovering the segment", self.topic_partition, fault)
            self.segments.remove(last)
            self.recover(last)
            self.segments.add(last)
            return last.next_offset()
        self.require_no_overflow_of(last, end_offset)
        return end_offset


def segment_end(segment: Segment) -> int:
    """Return the offset after the last batch that can be found without the indexes."""
    end = segment.base_offset
    with contextlib.suppress(CorruptSegment):
        for _, header in segment.headers_from(0):
            end = header.next_offset
    return end


def is_segment_name(name: str) -> bool:
    stem = name.split(".", 1)[0]
    return len(stem) == 20 and stem.isascii() and stem.isdigit() and int(stem) < 1 << 63


def offset_of(name: str) -> int:
    stem = name.split(".", 1)[0]
    return int(stem) if stem.isascii() and stem.isdigit() else END_OF_TIME
