"""The cost of reading log directories, file -> Arrow, by size of records and batches, and by codec.

    python -m benchmarks.micro.bench_offline [--bytes N] [--rounds N] [--appended] [NAME ...]

Each row: records/s and bytes/s of the file per second of processor time, checksums verified, median
round; and, for several columns, the fraction of the floor measured in the same run: reading into a
reused buffer, CRC-32C, one copy of what comes out, and decompression. The last column has the
goals; the last line is the cost of reading batch headers alone.

`reads` is the first part of that floor alone. It depends on how the system caches a file: the pages
that an appending broker leaves behind are as small as its appends and scattered in memory (8 to
12 GB/s on the author's machine); the pages of a file that was read from disk are large (25 GB/s).
The benchmark reads its files from disk once, as happens to logs that are examined later; --appended
measures them as they were left behind.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.command_line import count, parser_for
from pykbroker.offline import batches, open_log
from pykbroker.protocol.compression import decompress
from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.record_batch import build_batch, iter_batches, read_header

KVOT = ("key", "value", "offset", "timestamp")
SPARK = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")
CODECS = {"none": 0, "snappy": 2, "lz4": 3, "zstd": 4}


@dataclass(frozen=True)
class Shape:
    """One set of files. In `is_even` ones all records have one length; elsewhere values differ, and
    keys that `count_up` do, too.
    """

    name: str
    value_bytes: int
    batch_bytes: int
    codec: str = "none"
    headers: bool = False
    is_even: bool = False
    count_up: bool = False


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    shape: Shape
    columns: tuple[str, ...]
    goal: str = ""
    decoder: str = "numpy"


S100_16K = Shape("100 B, 16 KB batches", 100, 16_384)
S100_1M = Shape("100 B, 1 MB batches", 100, 1_047_000)
S1K_16K = Shape("1 KiB, 16 KB batches", 1024, 16_384)
S1K_1M = Shape("1 KiB, 1 MB batches", 1024, 1_047_000)
ZSTD_16K = Shape("100 B, 16 KB, zstd", 100, 16_384, "zstd")
ZSTD_1M = Shape("100 B, 1 MB, zstd", 100, 1_047_000, "zstd")
LZ4_16K = Shape("100 B, 16 KB, lz4", 100, 16_384, "lz4")
SNAPPY_16K = Shape("100 B, 16 KB, snappy", 100, 16_384, "snappy")
EVEN = Shape("100 B, 1,024, even", 100, 1024 * 124, is_even=True)
COUNTED = Shape("100 B, 1,024, counted keys", 100, 1024 * 124, count_up=True)
HEADERS = Shape("100 B, 16 KB, 2 headers", 100, 16_384, headers=True)

ROWS = (
    Row(S100_16K, KVOT, "12 M/s"),
    Row(S100_1M, KVOT, "10 M/s"),
    Row(S1K_16K, KVOT, "3 GB/s"),
    Row(S1K_1M, KVOT, "3 GB/s"),
    Row(ZSTD_1M, KVOT, "5 M/s"),
    Row(ZSTD_16K, KVOT, "3.5 M/s"),
    Row(LZ4_16K, KVOT, "7 M/s"),
    Row(SNAPPY_16K, KVOT),
    Row(HEADERS, (*KVOT, "headers"), "5 M/s"),
    Row(HEADERS, KVOT),
    Row(EVEN, KVOT),
    Row(COUNTED, KVOT, "3.6 M/s"),
    Row(S100_16K, SPARK),
    Row(S100_16K, ("key",)),
    Row(S100_16K, ("value_size",)),
    Row(S100_16K, ("offset",)),
    Row(S100_16K, KVOT, "1 M/s", decoder="plain"),
)


def make(directory: Path, shape: Shape, total_bytes: int) -> int:
    """Write a segment with its index; return the number of records."""
    chance = random.Random(1)
    spread = 0 if shape.is_even else shape.value_bytes * 0.25
    values = [_value(chance, shape.value_bytes, spread) for _ in range(4001)]
    keys = [b"user-%06d" % chance.randrange(10_000) for _ in range(3011)]
    headers = [("trace", b"%016x" % 7), ("source", b"web")] if shape.headers else []
    per_batch = max(1, shape.batch_bytes // (shape.value_bytes + 24 + 34 * bool(headers)))
    place = directory / "t-0"
    place.mkdir(parents=True)
    (directory / "meta.properties").write_text("version=1\n")
    offset = position = since = 0
    index = bytearray()
    with (place / f"{0:020d}.log").open("wb") as log:
        while position < total_bytes:
            rows = [
                (
                    b"%d" % n if shape.count_up else keys[n % 3011],
                    values[n * 7 % 4001],
                    1_760_000_000_000 + n // 3,
                    headers,
                )
                for n in range(offset, offset + per_batch)
            ]
            batch = build_batch(rows, base_offset=offset, codec=CODECS[shape.codec])
            offset += per_batch
            if since > 4096:
                index += struct.pack(">ii", offset - 1, position)
                since = 0
            log.write(batch)
            position += len(batch)
            since += len(batch)
    (place / f"{0:020d}.index").write_bytes(index)
    return offset


def read_anew(path: Path) -> None:
    """Load a file into the page cache as it is after a read from disk."""
    with path.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while opened.read(1 << 20):
            continue


def _value(chance: random.Random, size: int, spread: float) -> bytes:
    wanted = max(8, int(chance.gauss(size, spread)))
    text = b'{"user":%d,"at":%d,"id":"%016x","pad":"' % (
        chance.randrange(10**6),
        1_700_000_000_000 + chance.randrange(10**9),
        chance.getrandbits(64),
    )
    while len(text) < wanted:
        text += b"%x,item-%d;" % (chance.getrandbits(32), chance.randrange(1000))
    return text[:wanted]


def median_seconds(rounds: int, action: Callable[[], object]) -> float:
    """Return seconds of processor time: other work on the machine does not count."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def floor_seconds(path: Path, rounds: int) -> tuple[float, float]:
    """Return (reading alone; read, checksum, decompress and copy added up, each as fast as this
    machine can).
    """
    content = path.read_bytes()
    found = list(iter_batches(content))
    bodies = [bytes(batch[61:]) for _, batch in found]
    codec = read_header(content).codec
    buffer = bytearray(1 << 20)

    def read() -> None:
        with path.open("rb", buffering=0) as opened:
            while opened.readinto(buffer):
                pass

    def checksum() -> None:
        for _, batch in found:
            crc32c(batch[21:])

    def unpack() -> None:
        for body in bodies:
            decompress(codec, body, 1 << 30)

    original = sum(len(decompress(codec, body, 1 << 30)) for body in bodies)
    target = memoryview(bytearray(1 << 20))
    source = memoryview(bytes(1 << 20))

    def copy() -> None:
        for _ in range(original >> 20):
            target[:] = source

    reading = median_seconds(rounds, read)
    steps = [checksum, copy] + ([unpack] if codec else [])
    return reading, reading + sum(median_seconds(rounds, step) for step in steps)


def scan(directory: Path, row: Row) -> int:
    log = open_log(str(directory), columns=row.columns, decoder=row.decoder)
    return sum(batch.num_rows for batch in log)


def measure(root: Path, options: argparse.Namespace) -> Iterator[str]:
    names, rounds = options.names, options.rounds
    made: dict[Shape, tuple[Path, int, tuple[float, float]]] = {}
    yield f"{'':<26}{'columns':<10}{'M rec/s':>9}{'GB/s':>7}{'reads':>7}{'of floor':>10}  goal"
    for number, row in enumerate(ROWS):
        shape = row.shape
        if names and not any(name in shape.name for name in names):
            continue
        if shape not in made:
            directory = root / str(number)
            records = make(directory, shape, options.bytes)
            path = directory / "t-0" / f"{0:020d}.log"
            if not options.appended:
                read_anew(path)
            made[shape] = (directory, records, floor_seconds(path, rounds))
        directory, records, (reading, floor) = made[shape]
        size = (directory / "t-0" / f"{0:020d}.log").stat().st_size
        assert scan(directory, row) == records
        rate = records / (seconds := median_seconds(rounds, partial(scan, directory, row)))
        label = row.columns[0] if len(row.columns) == 1 else f"{len(row.columns)}"
        label += " plain" if row.decoder == "plain" else ""
        share = f"{floor / seconds:>9.0%}" if len(row.columns) > 1 else f"{'':>9}"
        yield (
            f"{shape.name:<26}{label:<10}{rate / 1e6:>9.2f}{size / seconds / 1e9:>7.2f}"
            f"{size / reading / 1e9:>7.1f}{share}   {row.goal}"
        )
    if S100_16K in made:
        directory = made[S100_16K][0]
        found = batches(str(directory)).num_rows
        each = median_seconds(rounds, partial(batches, str(directory))) / found * 1e6
        yield f"{S100_16K.name:<26}headers   {each:>9.2f} us a batch{'':>17}1.2 us"


def main(words: Sequence[str] | None = None) -> None:
    """Print rows as they come."""
    parser = parser_for("benchmarks.micro.bench_offline", __doc__)
    parser.add_argument(
        "names", nargs="*", help="run only the rows whose names contain one of these texts"
    )
    parser.add_argument(
        "--bytes", type=count, default=32 << 20, help="size of each file (default 32 MiB)"
    )
    parser.add_argument(
        "--rounds", type=count, default=5, help="number of rounds of each row (default %(default)s)"
    )
    parser.add_argument(
        "--appended",
        action="store_true",
        help="measure files in the page cache as appending left them",
    )
    options = parser.parse_args(words)
    root = Path(tempfile.mkdtemp(prefix="bench-offline-"))
    try:
        for line in measure(root, options):
            print(line, flush=True)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
