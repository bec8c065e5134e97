"""What producers were promised and readers have seen, partition by partition.

    attempt     a record that a client sends; its id is in a header, and unique in the world
    acked       the offset at which the node acknowledged it
    seen        a reader received it, or it is in a log that is settled

Invariants, checked when clients report and when whole logs are compared (`settle`):

* one offset holds one record for ever: an acknowledged or seen record is neither lost nor replaced,
  unless retention, DeleteRecords or compaction may delete it, or a power failure may have taken it;
* a log contains only records that were sent; a record of an idempotent producer at most once, but
  for what a replica missed that the others deleted (`_may_be_at`);
* the records of one idempotent producer id are in the order in which they were sent.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field

from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.record_batch import BatchHeader, iter_batches, iter_records
from pykbroker.testing.world.world import Violation
from pykbroker.values import NamedTuple

ID_HEADER = "id"
READ_BYTES = 1 << 20


class Stored(NamedTuple):
    """A record in a log or a fetch response."""

    offset: int
    identity: bytes
    key: bytes | None
    value: bytes | None
    timestamp: int


@dataclass(slots=True)
class Attempt:
    """A record that a client sends, perhaps more than once."""

    identity: bytes
    producer: str
    number: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    is_once: bool
    """Sent by an idempotent producer: never twice in the log."""
    offset: int | None = None
    """Where it is known to be; None: it is not known to be anywhere."""


def _long_ago() -> int:
    return 0


def _never() -> int:
    return 1 << 62


def _always(*_: object) -> bool:
    return True


@dataclass(slots=True)
class TopicRules:
    """The settings of a topic by which its logs may lose records."""

    is_compacted: bool = False
    retention_ms: int = -1
    is_flushed: bool = False
    """flush.messages=1: acknowledged means on disk."""
    latest_wall_ms: Callable[[], int] = _long_ago
    """The latest time that any node's wall clock has shown: retention goes by it."""


@dataclass(slots=True)
class PartitionLedger:
    """The promises of one partition."""

    name: str
    rules: TopicRules
    attempts: dict[bytes, Attempt] = field(default_factory=dict)
    at: dict[int, bytes] = field(default_factory=dict)
    """Known for sure: offset -> id."""
    deleted_before: int = 0
    """DeleteRecords may have deleted everything before this offset."""
    end: int = 0
    """Behind the highest offset that is known."""
    lost_keys: set[bytes | None] = field(default_factory=set)
    """Of records that power failures may have taken: compaction may have deleted earlier ones."""
    must_survive: int | None = None
    """Set when the process has ended: the next start brings back what is before it."""
    lost_by_power: int = 0
    lost_end: int = 0
    """Where the logs ended before a power failure may have taken something that was committed."""
    may_be_shown: set[bytes] = field(default_factory=set)
    """The ids of records sent before it that have no known offset."""
    flushed: int = 0
    """The offset up to which the log was flushed when its process ended."""
    committed_end: Callable[[], int] = _never
    """The end of what leaders have committed, where nodes replicate."""
    is_everywhere: Callable[[int, bytes], bool] = _always
    """Whether all replicas that run have the record with this id at this offset."""
    is_led_by: Callable[[int], bool] = _always
    """Whether this node leads the partition, by the newest metadata of the nodes that run."""

    # ---------------------------------------------------------------- what clients report

    def attempt(self, attempt: Attempt) -> None:
        """Record that it is about to be sent for the first time."""
        assert attempt.identity not in self.attempts, "ids are unique"
        self.attempts[attempt.identity] = attempt

    def acked(self, identity: bytes, offset: int) -> None:
        """Check an acknowledgement at `offset`."""
        self._know(identity, offset, "acknowledged")

    def seen(self, record: Stored) -> None:
        """Check a record that a reader received, or that is in a log."""
        attempt = self.attempts.get(record.identity)
        if attempt is None:
            raise Violation(f"{self.name}: no client sent the record at {record.offset}: {record}")
        if (record.key, record.value) != (attempt.key, attempt.value):
            raise Violation(f"{self.name}: {record} was sent as {attempt}")
        self._know(record.identity, record.offset, "read")

    def _know(self, identity: bytes, offset: int, how: str) -> None:
        attempt = self.attempts[identity]
        is_above = offset >= self.committed_end()
        may_be_lost = offset < self.lost_end and identity in self.may_be_shown
        if may_be_lost and (
            is_above or (how == "read" and not self.is_everywhere(offset, identity))
        ):
            # As in Kafka: only its next leader tells a replica what is lost. Until then, a
            # follower, or a leader that was replaced, shows what was committed before, and such a
            # leader acknowledges it if it is sent again. And a gap in one of the logs stays, even
            # if its node becomes a follower.
            self.lost_by_power += 1
            return
        if is_above:
            raise Violation(
                f"{self.name}: {identity!r} is {how} at {offset}, committed is what is below "
                f"{self.committed_end()}"
            )
        before = self.at.get(offset)
        if before is not None and before != identity:
            raise Violation(
                f"{self.name}: {identity!r} is {how} at {offset}, where {before!r} was before"
            )
        if attempt.is_once and not self._may_be_at(offset, attempt.offset):
            raise Violation(
                f"{self.name}: {identity!r} is {how} at {offset} and was at {attempt.offset}"
            )
        attempt.offset = offset
        self.at[offset] = identity
        self.end = max(self.end, offset + 1)

    def _may_be_at(self, offset: int, known: int | None) -> bool:
        """Return whether a record that is to be stored once, and was at `known`, may be at this
        offset.

        A replica that was away may have missed what the leader has deleted since, and with it what
        a producer has sent: if it leads, it stores a repeated batch again, as in Kafka.
        """
        if known is None or known == offset:
            return True
        replicates = self.committed_end is not _never
        is_deletable = self.rules.retention_ms >= 0 or known < self.deleted_before
        return replicates and is_deletable and known < offset

    # ---------------------------------------------------------------- what a log holds

    def process_ended(self, log_end: int, flushed: int) -> None:
        """Record that the process serving the log was stopped or killed: the next start must bring
        back what is before `log_end`, or before a lower end recorded since the last `settle`.
        """
        self.flushed = flushed
        self._must_survive(log_end)

    def power_lost(self, flushed: int | None) -> None:
        """Record how far the log was flushed, which the next start must bring back. None: the
        process had no such log (it was starting, say), so the value of an earlier end of a process
        still holds.
        """
        if flushed is not None:
            self.flushed = flushed
        self._must_survive(self.flushed)

    def _must_survive(self, end: int) -> None:
        self.must_survive = end if self.must_survive is None else min(self.must_survive, end)

    def may_lose_from(self, offset: int, end: int) -> None:
        """Record that power failures may have taken everything from this offset on; `end`: where
        the longest log, or what was committed, ended.
        """
        self.lost_end = max(self.lost_end, end)
        for at in [each for each in self.at if each >= offset]:
            self.attempts[self.at.pop(at)].offset = None
            self.lost_by_power += 1
        lost = [each for each in self.attempts.values() if each.offset is None]
        self.lost_keys |= {each.key for each in lost}
        self.may_be_shown |= {each.identity for each in lost}
        self.end = max(self.at, default=-1) + 1

    def settle(
        self,
        records: list[Stored],
        log_start: int,
        log_end: int,
        everywhere: Container[tuple[int, bytes]] | None = None,
    ) -> None:
        """Compare with a whole log, after a start or when the world is at rest.

        Forget first what the last end of a process allowed it to lose. `everywhere`: the offsets
        and ids of the records that all replicas have; None: no other replica matters. A leader
        keeps the gap that a power failure left in its log, and replicas that do not have the gap
        keep their records, as in Kafka.
        """
        found = {record.offset: record for record in records}
        if self.must_survive is not None:
            self._forget_lost(found, log_start)
        for record in records:
            if record.identity not in self.attempts:
                raise Violation(
                    f"{self.name}: no client sent the record at {record.offset}: {record}"
                )
        self._check_nothing_missing(found, log_start, log_end)
        for record in records:
            place = record.offset, record.identity
            if everywhere is None or place in everywhere or not self._may_lack(record):
                self.seen(record)
        self._check_order(records)

    def _may_lack(self, record: Stored) -> bool:
        """Return whether a power failure may have taken it, and it is not known to be there."""
        is_known = self.at.get(record.offset) == record.identity
        return record.identity in self.may_be_shown and not is_known

    def _forget_lost(self, found: dict[int, Stored], log_start: int) -> None:
        assert self.must_survive is not None
        for offset in [at for at in self.at if at >= self.must_survive]:
            identity = self.at[offset]
            record = found.get(offset)
            if offset >= log_start and (record is None or record.identity != identity):
                del self.at[offset]
                self.attempts[identity].offset = None
                self.lost_by_power += 1
        self.end = max(self.at, default=-1) + 1
        self.must_survive = None

    def _check_nothing_missing(
        self, found: dict[int, Stored], log_start: int, log_end: int
    ) -> None:
        latest_of_key = {record.key: record.offset for record in found.values()}
        for offset, identity in self.at.items():
            if offset < log_start:
                if offset >= self.deleted_before and not self._has_expired(identity):
                    raise Violation(
                        f"{self.name}: the log starts at {log_start}, and nothing may delete "
                        f"{identity!r} at {offset}"
                    )
                continue
            if offset in found:
                continue
            attempt = self.attempts[identity]
            if self.rules.is_compacted and (
                attempt.value is None
                or latest_of_key.get(attempt.key, -1) > offset
                or attempt.key in self.lost_keys
                or self._later_tombstone(attempt.key, offset)
            ):
                continue
            raise Violation(
                f"{self.name}: {identity!r} at {offset} is lost; the log is {log_start} to "
                f"{log_end}"
            )

    def _has_expired(self, identity: bytes) -> bool:
        """Return whether retention may have deleted it."""
        rules = self.rules
        age_ms = rules.latest_wall_ms() - self.attempts[identity].timestamp
        return rules.retention_ms >= 0 and age_ms > rules.retention_ms

    def _later_tombstone(self, key: bytes | None, offset: int) -> bool:
        """Return whether a tombstone of the key is, was or may be at a later offset."""
        return any(
            attempt.key == key
            and attempt.value is None
            and (attempt.offset is None or attempt.offset > offset)
            for attempt in self.attempts.values()
        )

    def _check_order(self, records: Iterable[Stored]) -> None:
        """Check that the records of each idempotent producer id are in their order."""
        last: dict[str, int] = {}
        for record in records:
            attempt = self.attempts[record.identity]
            if not attempt.is_once:
                continue
            before = last.get(attempt.producer, -1)
            if attempt.number <= before:
                raise Violation(
                    f"{self.name}: {record.identity!r} at {record.offset} comes after "
                    f"number {before} of the same producer"
                )
            last[attempt.producer] = attempt.number


def stored_records(payload: bytes | memoryview) -> list[Stored]:
    """Return the records of whole batches; an incomplete batch at the end is left out. The identity
    of a record without a header ID_HEADER is b"".
    """
    found = []
    for _, batch in iter_batches(payload, partial_tail=True):
        for record in iter_records(batch):
            headers = dict(record.headers)
            identity = headers.get(ID_HEADER) or b""
            found.append(
                Stored(record.offset, identity, record.key, record.value, record.timestamp)
            )
    return found


def end_of_batches(payload: bytes | memoryview) -> int:
    """Return the offset after the last whole batch; 0 if there is none."""
    end = 0
    for header, _ in iter_batches(payload, partial_tail=True):
        end = header.next_offset
    return end


def batches_of(
    log: PartitionLog, start: int = 0, end: int | None = None
) -> Iterator[tuple[BatchHeader, bytes]]:
    """Yield the batches of a log that hold offsets from `start` on and below `end`."""
    offset = max(start, log.log_start_offset)
    end = log.log_end_offset if end is None else min(end, log.log_end_offset)
    while offset < end:
        piece = log.read(offset, READ_BYTES, end).slice
        if piece is None:
            return
        payload = piece.read()
        piece.release()
        if not payload:
            return
        for header, batch in iter_batches(payload, partial_tail=len(payload) == READ_BYTES):
            offset = header.next_offset
            yield header, bytes(batch)


def records_of(log: PartitionLog) -> list[Stored]:
    """Return all records of a log, read as a fetch reads them."""
    found: list[Stored] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        outcome = log.read(offset, READ_BYTES, log.log_end_offset)
        payload = b"" if outcome.slice is None else outcome.slice.read()
        if not payload:
            break
        following = offset
        for header, batch in iter_batches(payload):
            following = max(following, header.next_offset)
            found += [each for each in stored_records(bytes(batch)) if each.offset >= offset]
        if following == offset:
            break
        offset = following
    return found


def readable_end(log: PartitionLog) -> int:
    """Return the offset after the last record of a log; 0 if it has none. A compacted log may end
    with empty batches, or with none where a truncation took the record that replaced the last.
    """
    records = records_of(log)
    return records[-1].offset + 1 if records else 0
