"""Reads, positions and look-ups by time against a plain list, on both disks."""

from __future__ import annotations

import tempfile
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.environment.files import Files
from pykbroker.environment.real.files import RealFiles
from pykbroker.errors import KafkaError
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.protocol.record_batch import build_batch
from tests.log.log_makers import NOW_MS, memory_disk, open_orders


class Stored(NamedTuple):
    base_offset: int
    last_offset: int
    segment: int
    content: bytes
    timestamps: tuple[int, ...]


BATCHES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5000), min_size=1, max_size=4),  # timestamps
        st.integers(0, 300),  # value size
        st.integers(0, 4),  # codec
        st.integers(0, 7),  # 0: roll first
    ),
    min_size=1,
    max_size=30,
)


def build(
    files: Files, directory: str, batches: list[tuple[list[int], int, int, int]]
) -> tuple[PartitionLog, list[Stored]]:
    log = open_orders(files, directory, index_interval_bytes="150", segment_ms=str(1 << 50))
    model: list[Stored] = []
    for timestamps, size, codec, roll in batches:
        if roll == 0:
            log.roll(NOW_MS)
        times = [NOW_MS + time for time in timestamps]
        batch = build_batch([(None, b"v" * size, time, ()) for time in times], codec=codec)
        outcome = log.append_as_leader(batch, 1, NOW_MS)
        assert outcome.error == 0
        log.write_pending()
        model.append(
            Stored(
                outcome.base_offset,
                outcome.last_offset,
                log.active.base_offset,
                bytes(batch),
                tuple(times),
            )
        )
    return log, model


def expected_read(
    model: list[Stored], offset: int, max_bytes: int, max_offset: int, min_one: bool
) -> bytes:
    visible = [b for b in model if b.last_offset >= offset and b.base_offset < max_offset]
    if offset >= max_offset or not visible:
        return b""
    same = [b.content for b in visible if b.segment == visible[0].segment]
    limit = max_bytes
    if len(same[0]) > max_bytes:
        if not min_one:
            return b""
        limit = len(same[0])
    return b"".join(same)[:limit]


@pytest.mark.parametrize("real", [False, True])
@settings(deadline=None, max_examples=40)
@given(batches=BATCHES, pick=st.randoms(use_true_random=False))
def test_reads_like_a_list(real: bool, batches, pick) -> None:
    with tempfile.TemporaryDirectory() as directory:
        files: Files = RealFiles(max_open=2) if real else memory_disk()
        path = f"{directory}/orders-3" if real else "/d/orders-3"
        log, model = build(files, path, batches)
        if pick.randint(0, 1):
            log.close()
            log = open_orders(files, path, recovery_point=log.recovery_point)
        end = log.log_end_offset
        bounds = [0, end, *(b.base_offset for b in model)]
        for _ in range(25):
            offset = pick.randint(0, end)
            max_bytes = pick.choice([0, 1, 70, 300, 1000, 1 << 20])
            bound = pick.choice(bounds)
            min_one = pick.random() < 0.5
            outcome = log.read(offset, max_bytes, bound, min_one)
            found = outcome.slice.read() if outcome.slice is not None else b""
            assert found == expected_read(model, offset, max_bytes, bound, min_one)
            between = [b for b in model if b.last_offset >= offset and b.base_offset < bound]
            wanted = sum(len(b.content) for b in between) if bound > offset else 0
            assert log.bytes_between(offset, bound) == wanted
        log.release()


@settings(deadline=None, max_examples=60)
@given(batches=BATCHES, pick=st.randoms(use_true_random=False))
def test_finds_times_like_a_list(batches, pick) -> None:
    log, model = build(memory_disk(), "/d/orders-3", batches)
    records = [(b.base_offset + n, time) for b in model for n, time in enumerate(b.timestamps)]
    start = pick.randint(0, log.log_end_offset)
    log.advance_log_start_offset(start)
    for _ in range(10):
        timestamp = NOW_MS + pick.randint(-1, 5001)
        segment_largest: dict[int, int] = {}
        for b in model:
            largest = max(b.timestamps)
            segment_largest[b.segment] = max(segment_largest.get(b.segment, 0), largest)
        # Kafka looks in the first segment that reaches the time, and in that one alone.
        reached = [
            base for base, largest in sorted(segment_largest.items()) if largest >= timestamp
        ]
        wanted = None
        if reached:
            ends = [base for base in sorted(segment_largest) if base > reached[0]]
            end = ends[0] if ends else log.log_end_offset
            hits = [
                r
                for r in records
                if r[1] >= timestamp and start <= r[0] < end and r[0] >= reached[0]
            ]
            wanted = (*hits[0], 1) if hits else None
        assert log.offset_for_timestamp(timestamp) == wanted
    top = max(time for _, time in records)
    assert log.offset_of_max_timestamp() == (*next(r for r in records if r[1] == top), 1)


def test_outside_of_the_log() -> None:
    log, _ = build(memory_disk(), "/d/orders-3", [([0, 1], 5, 0, 1)])
    log.advance_log_start_offset(1)
    for offset in (0, 3, -1):
        with pytest.raises(KafkaError):
            log.read(offset, 10, 2)
