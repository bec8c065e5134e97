"""Bytes on disk that are not what was written: flipped, cut, inserted, in any file of a partition.

Invariants, after each mutation:
    opened as after a crash, each segment is a prefix of what was appended to it, byte for byte but
    for base offsets, which stand outside of the checksum and ascend still; the log can be appended
    to and read to its end;
    opened as after a clean stop, whatever is asked is answered with the bytes of the file, or with
    CORRUPT_MESSAGE; nothing else is raised, nothing loops.

PYKBROKER_FUZZ_ROUNDS=20000 runs more.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import partial

import pytest

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.partition.partition_log import AppendOrigin, PartitionLog
from pykbroker.log.recovery.damage import OffsetsOutOfPlace
from pykbroker.protocol.control_records import ABORT, EndTxnMarker, build_marker_batch
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import DIRECTORY, NOW_MS, append, batch_of, memory_disk, open_orders

ROUNDS = int(os.environ.get("PYKBROKER_FUZZ_ROUNDS", "600"))


def original() -> tuple[dict[str, bytes], dict[int, list[bytes]]]:
    """The files of a log that was closed, and its batches by segment."""
    files = memory_disk()
    log = open_orders(files, segment_ms="2000", index_interval_bytes="100")
    for step in range(24):
        when = NOW_MS + 500 * step
        in_transaction = step % 6 == 2
        batch = batch_of(
            b"v%d" % step,
            b"w" * (step * 7 % 90),
            timestamp=when,
            codec=step % 5,
            producer=(7, 0, 2 * (step // 3)) if step % 3 == 2 else None,
            is_transactional=in_transaction,
        )
        if step % 3 == 2 and not in_transaction:
            batch = batch_of(b"plain", timestamp=when)
        assert log.append_as_leader(batch, step // 8, when).error in (0, 45)
        if in_transaction:
            marker = build_marker_batch(
                EndTxnMarker(ABORT, 1), producer_id=7, producer_epoch=0, timestamp_ms=when
            )
            log.append_as_leader(marker, step // 8, when, AppendOrigin.COORDINATOR)
        log.write_pending()
    batches = batches_of(log)
    log.close()
    names = files.list_sizes(DIRECTORY)
    return {name: files.read_file(f"{DIRECTORY}/{name}") for name in names}, batches


def batches_of(log: PartitionLog) -> dict[int, list[bytes]]:
    """By the base offset of their segment."""
    return {
        segment.base_offset: [
            segment.read_batch(position, header) for position, header in segment.headers_from(0)
        ]
        for segment in log.segments
    }


CONTENT, BATCHES = original()


def mutated(dice: random.Random) -> MemoryFiles:
    files = memory_disk()
    files.mkdir(DIRECTORY)
    victim = dice.choice(sorted(CONTENT))
    for name, content in CONTENT.items():
        changed = bytearray(content)
        if name == victim:
            for _ in range(dice.randint(1, 3)):
                mutate(changed, dice)
        files.write_file(f"{DIRECTORY}/{name}", changed)
    if dice.randint(0, 9) == 0 and victim != min(n for n in CONTENT if n.endswith(".log")):
        files.unlink(f"{DIRECTORY}/{victim}")
    return files


def mutate(content: bytearray, dice: random.Random) -> None:
    place = dice.randint(0, max(len(content) - 1, 0))
    kind = dice.randint(0, 4)
    if kind == 0 and content:
        content[place] ^= 1 << dice.randint(0, 7)
    elif kind == 1 and content:
        content[place] = dice.randint(0, 255)
    elif kind == 2:
        del content[place:]
    elif kind == 3:
        content[place:place] = dice.randbytes(dice.randint(1, 40))
    else:
        content[place : place + 30] = bytes(min(30, len(content) - place))


def stored(log: PartitionLog) -> list[bytes]:
    """The batches of the log by its own look-ups."""
    found = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1, log.log_end_offset)
        if outcome.slice is None:
            break
        found.append(outcome.slice.read())
        offset = max(offset, int.from_bytes(found[-1][:8], "big", signed=True))
        offset += int.from_bytes(found[-1][23:27], "big", signed=True) + 1
    return found


def covered(batch: bytes) -> bytes:
    """Base offset and leader epoch stand outside of the checksum; a gap before a batch may be
    what compaction left, so nothing tells what they were."""
    return batch[8:12] + batch[16:]


@pytest.mark.parametrize("chunk", range(4))
def test_after_a_crash_each_segment_is_a_prefix(chunk: int) -> None:
    for seed in range(chunk, ROUNDS, 4):
        files = mutated(random.Random(seed))
        log_files = [path for path in files.listdir(DIRECTORY) if path.endswith(".log")]
        before = {name: files.read_file(f"{DIRECTORY}/{name}") for name in log_files}
        try:
            log = open_orders(files, is_clean=False)
        except OffsetsOutOfPlace:  # sound batches, whose offsets no checksum covers: nothing is cut
            after = {name: files.read_file(f"{DIRECTORY}/{name}") for name in log_files}
            assert after == before, f"seed {seed}"
            continue
        found = batches_of(log)
        for base, batches in found.items():
            if base in BATCHES:
                known = [covered(batch) for batch in BATCHES[base][: len(batches)]]
                assert [covered(batch) for batch in batches] == known, f"seed {seed}"
            else:  # the new one, behind all that is left
                assert (batches, base) == ([], log.log_end_offset), f"seed {seed}"
        every = [batch for batches in found.values() for batch in batches]
        offsets = [int.from_bytes(batch[:8], "big", signed=True) for batch in every]
        assert offsets == sorted(set(offsets)), f"seed {seed}"
        assert stored(log) == every, f"seed {seed}"
        end = log.log_end_offset
        assert append(log, b"next", epoch=99) == end, f"seed {seed}"
        assert len(stored(log)) == len(every) + 1, f"seed {seed}"


def questions(log: PartitionLog, dice: random.Random) -> list[Callable[[], object]]:
    """Every way to look something up, at random places."""
    end = log.log_end_offset
    offset = dice.randint(log.log_start_offset, end)
    max_bytes = dice.choice([1, 500, 9999])
    timestamp = NOW_MS + dice.randint(0, 13_000)
    return [
        partial(log.read, offset, max_bytes, end),
        partial(log.read, offset, max_bytes, dice.randint(0, end)),
        partial(log.offset_for_timestamp, timestamp),
        log.offset_of_max_timestamp,
        partial(log.aborted_transactions, offset, end),
        partial(log.bytes_between, offset, end),
    ]


@pytest.mark.parametrize("chunk", range(4))
def test_after_a_clean_stop_nothing_but_kafkas_error(chunk: int) -> None:
    for seed in range(chunk, ROUNDS, 4):
        dice = random.Random(seed)
        log = open_orders(mutated(dice), is_clean=True, recovery_point=41)
        for ask in questions(log, dice) + questions(log, dice):
            try:
                ask()
            except KafkaError as error:
                if error.code != ErrorCode.CORRUPT_MESSAGE:
                    raise
