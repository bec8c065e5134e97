"""Log directories written by hand: every kind of batch, and damaged ones."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from pykbroker.offline import ReadOptions, Split, read_split
from pykbroker.protocol.record_batch import LOG_APPEND_TIME, build_batch, read_header

BASE_MS = 1_700_000_000_000
HORIZON_MS = BASE_MS + 86_400_000
ROWS = [(b"key", None, BASE_MS + time, ()) for time in (20, 10, 30)]


def partition_directory(root: Path, topic: str = "t", partition: int = 0) -> Path:
    """An empty partition in a log directory."""
    directory = root / f"{topic}-{partition}"
    directory.mkdir(parents=True, exist_ok=True)
    (root / "meta.properties").write_text("version=1\ncluster.id=x\nnode.id=1\n")
    return directory


def write_segment(
    directory: Path,
    batches: Iterable[bytes],
    base_offset: int | None = None,
    index_every: int = 4096,
) -> Path:
    """A segment of these batches with the indexes that Kafka would write."""
    batches = list(batches)
    if base_offset is None:
        base_offset = read_header(batches[0]).base_offset
    stem = directory / f"{base_offset:020d}"
    log = bytearray()
    index = bytearray()
    times = bytearray()
    since = 0
    largest = (-1, base_offset)
    for batch in batches:
        header = read_header(batch)
        if header.max_timestamp > largest[0]:
            largest = (header.max_timestamp, header.last_offset)
        if since > index_every:
            index += struct.pack(">ii", header.last_offset - base_offset, len(log))
            if not times or struct.unpack(">q", times[-12:-4])[0] < largest[0]:
                times += struct.pack(">qi", largest[0], largest[1] - base_offset)
            since = 0
        log += batch
        since += len(batch)
    if not times or struct.unpack(">q", times[-12:-4])[0] < largest[0]:
        times += struct.pack(">qi", largest[0], largest[1] - base_offset)
    stem.with_suffix(".log").write_bytes(log)
    stem.with_suffix(".index").write_bytes(index)
    stem.with_suffix(".timeindex").write_bytes(times)
    return stem.with_suffix(".log")


def simple_batches(
    count: int, records: int = 10, *, base_offset: int = 0, size: int = 40, codec: int = 0
) -> list[bytes]:
    """Batches of records `key-N` -> N padded to `size`, one ms apart."""
    batches = []
    offset = base_offset
    for _ in range(count):
        rows = [
            (b"key-%d" % (n % 7), (b"%d" % n).ljust(size, b"."), BASE_MS + n, ())
            for n in range(offset, offset + records)
        ]
        batches.append(bytes(build_batch(rows, base_offset=offset, codec=codec)))
        offset += records
    return batches


def odd_batches(
    seed: int, count: int = 30, *, codecs: Sequence[int] = (0, 1, 2, 3, 4)
) -> list[bytes]:
    """Every legal oddity: nulls, long fields, headers, gaps, far timestamps, all codecs."""
    chance = random.Random(seed)
    batches = []
    offset = chance.choice([0, 5, 10**12])
    for _ in range(count):
        rows, deltas = _odd_rows(chance)
        last = (deltas[-1] if deltas else -1) + chance.choice([0, 0, 3])
        kind = chance.randrange(8)
        batches.append(
            bytes(
                build_batch(
                    rows,
                    base_offset=offset,
                    codec=chance.choice(codecs),
                    timestamp_type=1 if kind == 0 else 0,
                    log_append_time=BASE_MS + 77 if kind == 0 else -1,
                    producer_id=chance.choice([-1, 7]),
                    producer_epoch=3,
                    base_sequence=chance.choice([-1, 40]),
                    offset_deltas=deltas,
                    last_offset_delta=max(last, 0),
                    delete_horizon_ms=BASE_MS - 1000 if kind == 1 else None,
                    leader_epoch=chance.randrange(3),
                )
            )
        )
        offset += max(last, 0) + 1 + chance.choice([0, 0, 100])
    return batches


def _odd_rows(
    chance: random.Random,
) -> tuple[list[tuple[bytes | None, bytes | None, int, list[tuple[str, bytes | None]]]], list[int]]:
    count = chance.choice([0, 1, 2, 5, 40, 300, 700])
    size = chance.choice([3, 30, 300]) if count > 10 else chance.choice([3, 300, 9000, 20_000])
    with_headers = chance.random() < 0.4
    dense = chance.random() < 0.7
    at = BASE_MS
    delta = -1
    rows = []
    deltas = []
    for _ in range(count):
        delta += 1 if dense else chance.choice([1, 1, 2, 70, 9000])
        deltas.append(delta)
        at += chance.choice([0, 1, 1, 200, -100, 10**6, -(10**9), 10**12])
        key = None if chance.random() < 0.2 else chance.randbytes(chance.choice([0, 1, 11, 70]))
        value = None if chance.random() < 0.1 else chance.randbytes(chance.randrange(size))
        headers: list[tuple[str, bytes | None]] = []
        if with_headers:
            headers = [
                (f"h{n}", None if chance.random() < 0.2 else chance.randbytes(n % 90))
                for n in range(chance.choice([0, 1, 2, 130 if count < 10 else 3]))
            ]
        rows.append((key, value, at, headers))
    return rows, deltas


def batches_without_a_base() -> list[bytes]:
    """As compaction leaves them: with a delete horizon, without records; one of append time."""
    return [
        bytes(build_batch(ROWS, delete_horizon_ms=HORIZON_MS)),
        bytes(build_batch([], base_offset=3, last_offset_delta=2)),
        bytes(
            build_batch(
                ROWS, base_offset=6, timestamp_type=LOG_APPEND_TIME, log_append_time=BASE_MS + 50
            )
        ),
        bytes(build_batch(ROWS, base_offset=9)),
    ]


def offsets_of(splits: list[Split]) -> list[int]:
    options = ReadOptions(columns=("offset",))
    return [
        offset
        for split in splits
        for batch in read_split(split, options)
        for offset in batch.column("offset").to_pylist()
    ]
