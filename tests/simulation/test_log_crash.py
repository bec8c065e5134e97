"""Crashes of the log at every call of the operating system, on the disk in memory.

One seed is one life of a partition: random appends, rolls, flushes, truncations, retention, clean
and unclean stops. At a random call the machine stops: the disk keeps what was synced and some of
the rest (a killed process keeps all). Or the disk fails, and the log goes offline. After each
recovery:

    the log holds a prefix of what was appended, and everything up to the recovery point that was
    reached; nothing that was never appended; nothing that was truncated away before a flush. Where
    a power failure took the end of a segment and left the next, each segment holds a prefix of its
    part;
    every offset is found, by an index that is right; producer state is what the batches say.

PYKBROKER_CRASH_SEEDS=5000 runs more seeds; PYKBROKER_CRASH_SEED=17 one alone.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable

import pytest

from pykbroker.environment.files import LogDirFailure
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.record_batch import iter_batches, iter_records
from pykbroker.testing.world.memory_files import MemoryFiles, SimulatedCrash
from tests.log.log_makers import DIRECTORY, NOW_MS, batch_of, memory_disk, open_orders

SEEDS = int(os.environ.get("PYKBROKER_CRASH_SEEDS", "100"))
ONE_SEED = os.environ.get("PYKBROKER_CRASH_SEED")

STEPS = 40
PRODUCERS = (11, 12, 13)


class Batch:
    """A batch as it was acknowledged."""

    def __init__(
        self, base_offset: int, values: list[bytes], producer: tuple[int, int, int], timestamp: int
    ) -> None:
        self.timestamp = timestamp
        self.base_offset = base_offset
        self.values = values
        self.producer = producer
        self.last_offset = base_offset + len(values) - 1


class Life:
    """The log under test beside a list of what it should hold."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.files = memory_disk()
        self.files.dice = self.dice
        self.now_ms = NOW_MS
        self.appended: list[Batch] = []  # acknowledged
        self.maybe: list[Batch] = []  # queued or being truncated when the machine stopped
        self.synced_offset = 0  # everything below must survive a crash of the machine
        self.start_offset = 0
        self.recovery_point = 0
        self.reopened = 0
        self.log = self.open(is_clean=False)

    def open(self, is_clean: bool) -> PartitionLog:
        return open_orders(
            self.files,
            is_clean=is_clean,
            recovery_point=self.recovery_point,
            log_start_offset=self.start_offset,
            now_ms=self.now_ms,
            segment_bytes=str(1 << 20),
            segment_ms=str(self.dice.choice([400, 2000, 1 << 40])),
            index_interval_bytes=str(self.dice.choice([0, 100, 400])),
            retention_ms=str(self.dice.choice([-1, 3000])),
            segment_index_bytes="400",
        )

    # -- steps ----------------------------------------------------------------------------------

    def append(self) -> None:
        count = self.dice.randint(1, 4)
        queued: list[Batch] = []
        self.now_ms += self.dice.randint(0, 300)
        for _ in range(count):
            producer_id = self.dice.choice(PRODUCERS)
            sequence = self.next_sequence(producer_id, queued)
            values = [
                b"%d-%d-%d" % (producer_id, sequence + n, self.dice.randint(0, 999))
                for n in range(self.dice.randint(1, 3))
            ]
            producer = (producer_id, 0, sequence)
            batch = batch_of(*values, timestamp=self.now_ms, producer=producer)
            base = self.log.next_offset
            queued.append(Batch(base, values, producer, self.now_ms))
            self.maybe.append(queued[-1])
            outcome = self.log.append_as_leader(batch, self.reopened, self.now_ms)
            assert outcome.error == 0, outcome.error_message
            assert outcome.base_offset == base
        self.log.write_pending()
        self.appended += queued
        self.maybe.clear()

    def next_sequence(self, producer_id: int, queued: list[Batch]) -> int:
        for batch in reversed(self.appended + queued):
            if batch.producer[0] == producer_id:
                return batch.producer[2] + len(batch.values)
        entry = self.log.producers.producers.get(producer_id)
        return 0 if entry is None else entry.last_sequence + 1

    def flush(self) -> None:
        target = self.log.log_end_offset
        self.log.flush(self.now_ms)
        self.synced_offset = max(self.synced_offset, target)
        self.recovery_point = self.log.recovery_point

    def truncate(self) -> None:
        low = max(self.start_offset, self.log.log_start_offset)
        offset = self.dice.randint(low, self.log.log_end_offset)
        kept = [b for b in self.appended if b.last_offset < offset]
        end = kept[-1].last_offset + 1 if kept else low
        cut = [b for b in self.appended if b.last_offset >= offset]
        # Until the truncation is on disk, a crash may bring back what it cut.
        self.synced_offset = min(self.synced_offset, end)
        self.recovery_point = min(self.recovery_point, end)
        self.maybe = cut
        self.appended = kept
        self.log.truncate_to(end if cut else offset, self.now_ms)
        self.log.flush(self.now_ms)
        for segment in self.log.segments:
            segment.file.sync()
        self.files.sync_dir(DIRECTORY)
        self.maybe = []

    def retain(self) -> None:
        self.log.delete_old_segments(self.now_ms, self.log.log_end_offset)
        self.start_offset = max(self.start_offset, self.log.log_start_offset)
        for deletion in self.log.chores.due_deletions(self.now_ms + 10**9):
            for path in deletion.paths:
                self.files.unlink(path)
        self.log.chores.due_deletions(self.now_ms)
        self.drop_old()

    def drop_old(self) -> None:
        start = self.log.log_start_offset
        self.appended = [b for b in self.appended if b.last_offset >= start]

    def restart_cleanly(self) -> None:
        self.flush()
        self.log.close()
        for name in self.files.listdir(DIRECTORY):
            self.files.sync_file(f"{DIRECTORY}/{name}")
        self.files.sync_dir(DIRECTORY)
        self.reopened += 1
        self.log = self.open(is_clean=True)
        self.check()

    def corrupt_an_index(self) -> None:
        """Garbage in an index of a stopped log is found and built again."""
        self.flush()
        self.log.close()
        names = [n for n in self.files.listdir(DIRECTORY) if n.endswith((".index", ".timeindex"))]
        if not names:
            return
        path = f"{DIRECTORY}/{self.dice.choice(names)}"
        size = self.files.size(path)
        if self.dice.randint(0, 1) or not size:
            self.files.unlink(path)
        else:
            self.files.resize(path, self.dice.randint(0, size - 1))
        self.reopened += 1
        self.log = self.open(is_clean=True)
        self.check()

    def step(self) -> None:
        roll = self.dice.randint(0, 99)
        if roll < 55:
            self.append()
        elif roll < 65:
            self.flush()
        elif roll < 72:
            self.truncate()
        elif roll < 80:
            self.retain()
        elif roll < 88:
            self.log.roll(self.now_ms)
        elif roll < 94:
            self.restart_cleanly()
        else:
            self.corrupt_an_index()

    # -- crash and check ------------------------------------------------------------------------

    def break_disk(self, calls: int) -> None:
        """From some call on nothing works any more, until the node is started again."""
        limit = self.files.calls + calls

        def fail(name: str, path: str) -> OSError | None:
            return OSError(errno.EIO, "bad disk") if self.files.calls >= limit else None

        self.files.fail = fail

    def crash(self, power_cut: int | None = None) -> None:
        power_cut = self.dice.randint(0, 2) if power_cut is None else power_cut
        must_survive = self.synced_offset
        if power_cut:
            self.files.crash(self.dice, reorder=power_cut == 2)
        else:
            self.files.kill()
            must_survive = max([must_survive, *(b.last_offset + 1 for b in self.appended)])
        self.reopened += 1
        self.log = self.open(is_clean=False)
        self.adopt(must_survive)
        self.check()
        self.recovery_point = min(self.recovery_point, self.log.recovery_point)

    def adopt(self, must_survive: int) -> None:
        """After a crash the log may end earlier, or hold what was not acknowledged yet."""
        end = self.log.log_end_offset
        known = [b for b in self.appended + self.maybe if b.last_offset < end]
        assert end >= must_survive, f"the log ends at {end}, {must_survive} had to survive"
        self.appended = []
        for segment in self.log.segments:
            there = {header.base_offset for _, header in segment.headers_from(0)}
            following = self.log.segments.higher(segment.base_offset)
            behind = end if following is None else following.base_offset
            part = [b for b in known if segment.base_offset <= b.base_offset < behind]
            kept = [b for b in part if b.base_offset in there]
            lost = [b for b in part if b.base_offset not in there]
            assert kept + lost == part, "batches are lost in the middle of a segment"
            lowest = min((b.base_offset for b in lost), default=end)
            assert lowest >= must_survive, f"{lowest} is lost, {must_survive} had to survive"
            self.appended += kept
        ends = [b.last_offset + 1 for b in self.appended]
        ends.append(self.log.active.base_offset)  # it may be empty, behind a hole
        assert max(ends) == end, "an end that is no end of a batch"
        self.maybe = []
        self.start_offset = max(self.start_offset, self.log.log_start_offset)
        self.drop_old()

    def check(self) -> None:
        log = self.log
        expected = {b.base_offset: b for b in self.appended}
        offset = log.log_start_offset
        found: list[Batch] = []
        while offset < log.log_end_offset:
            outcome = log.read(offset, 1 << 20, log.log_end_offset)
            if outcome.slice is None or not outcome.slice.read():
                break  # a hole up to the end
            for header, batch in iter_batches(outcome.slice.read()):
                values = [record.value for record in iter_records(batch)]
                model = expected.get(header.base_offset)
                assert model is not None, f"unknown batch at {header.base_offset}"
                assert values == model.values
                found.append(model)
                offset = header.next_offset
        assert [b.base_offset for b in found] == [
            b.base_offset for b in self.appended if b.last_offset >= log.log_start_offset
        ]
        for kept in self.appended:
            for wanted in range(max(kept.base_offset, log.log_start_offset), kept.last_offset + 1):
                for segment in log.segments:
                    segment.hints.clear()
                outcome = log.read(wanted, 1, log.log_end_offset)
                assert outcome.slice is not None
                header, _ = next(iter_batches(outcome.slice.read()))
                assert header.base_offset == kept.base_offset
        self.check_times()
        self.check_producers()

    def check_times(self) -> None:
        """Timestamps only grow here, so the first batch that is late enough has the answer."""
        start = self.log.log_start_offset
        for batch in self.appended:
            for timestamp in (batch.timestamp, batch.timestamp + 1):
                late = [b for b in self.appended if b.timestamp >= timestamp]
                found = self.log.offset_for_timestamp(timestamp)
                if late:
                    assert found is not None
                    assert found[:2] == (max(late[0].base_offset, start), late[0].timestamp)
                else:
                    assert found is None

    def check_producers(self) -> None:
        last: dict[int, int] = {}
        for batch in self.appended:
            last[batch.producer[0]] = batch.producer[2] + len(batch.values) - 1
        known = self.log.producers.producers
        for producer_id, sequence in last.items():
            assert known[producer_id].last_sequence == sequence


def live_on_a_bad_disk(seed: int) -> None:
    """What was acknowledged before the disk failed is still there after the next start."""
    life = Life(seed)
    life.break_disk(life.dice.randint(5, 400))
    for _ in range(STEPS):
        try:
            life.step()
        except (LogDirFailure, OSError):  # OSError: while opening, where the manager turns it
            life.crash(power_cut=0)
            life.break_disk(life.dice.randint(5, 400))
    life.files.fail = None
    life.check()


def live(seed: int) -> None:
    life = Life(seed)
    calls = life.dice.randint(5, 400)
    life.files.crash_at = life.files.calls + calls
    for _ in range(STEPS):
        try:
            life.step()
        except SimulatedCrash:
            life.crash()
            life.files.crash_at = life.files.calls + life.dice.randint(5, 400)
    life.files.crash_at = None
    life.check()


@pytest.mark.parametrize("chunk", range(1 if ONE_SEED else 10))
@pytest.mark.parametrize("life", [live, live_on_a_bad_disk])
def test_recovery(life: Callable[[int], None], chunk: int) -> None:
    seeds = [int(ONE_SEED)] if ONE_SEED else range(chunk, SEEDS, 10)
    for seed in seeds:
        try:
            life(seed)
        except (AssertionError, LogDirFailure, LookupError, ValueError, OSError) as fault:
            command = f"PYKBROKER_CRASH_SEED={seed} python -m pytest {__file__}"
            raise AssertionError(f"seed {seed} failed ({fault}); repeat with: {command}") from fault


def test_memory_files_are_really_crashed() -> None:
    """The simulation would prove nothing if its crashes came after the last call."""
    crashes = 0
    for seed in range(20):
        life = Life(seed)
        life.files.crash_at = life.files.calls + 30
        try:
            for _ in range(STEPS):
                life.step()
        except SimulatedCrash:
            crashes += 1
    assert crashes == 20
    assert isinstance(life.files, MemoryFiles)
