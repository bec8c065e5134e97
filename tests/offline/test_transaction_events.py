"""Whatever one flip, cut or hole does to a log of transactions: what was aborted, or is still open,
is never served as committed, or shown as committed."""

from __future__ import annotations

import contextlib
import itertools
import random
from pathlib import Path
from typing import Final

import pytest

from pykbroker.offline import OfflineError, open_log, transactions
from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.protocol.record_batch import build_batch, iter_records, read_header
from tests.offline.samples import partition_directory, write_segment
from tests.offline.test_partition_check import batch, marker


def written(base: int, producer: int, records: int) -> bytes:
    return batch(base, records, 0, producer, transactional=1)


def cleaned(original: bytes) -> bytes:
    """A marker as compaction leaves it: with a delete horizon, and so three bytes larger."""
    header = read_header(original)
    (record,) = iter_records(original, header)
    return bytes(
        build_batch(
            [(record.key, record.value, record.timestamp, ())],
            base_offset=header.base_offset,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            is_transactional=True,
            is_control=True,
            delete_horizon_ms=record.timestamp + 86_400_000,
        )
    )


SEGMENTS: Final = {
    0: [
        written(0, 6, 3),
        written(3, 7, 3),
        written(6, 7, 3),
        batch(9, 2),
        marker(11, ABORT, 7),
        written(12, 7, 3),
        marker(15, COMMIT, 6),
        written(16, 9, 3),
        written(19, 6, 2),
        cleaned(marker(21, ABORT, 9)),
    ],
    22: [
        written(22, 9, 2),
        marker(24, COMMIT, 7),
        marker(25, ABORT, 6),
        marker(26, COMMIT, 9),
        written(27, 8, 2),
        batch(29, 1),
    ],
}
NOT_COMMITTED: Final = {*range(3, 9), *range(16, 21), 27, 28}
MARKERS: Final = {11, 15, 21, 24, 25, 26}
COMMITTED: Final = set(range(27)) - NOT_COMMITTED - MARKERS
#: Of no transaction, and not served only because it is behind an open one.
BEHIND: Final = {29}
#: By the offsets that are in them.
ABORTED: Final = ((7, {3, 4, 5, 6, 7, 8}), (9, {16, 17, 18}), (6, {19, 20}))
RANGES: Final = ((None, None), (None, 11), (None, 21), (12, None), (19, 24))


@pytest.fixture
def log(tmp_path: Path) -> dict[int, Path]:
    """The paths of the segments by their base offsets."""
    directory = partition_directory(tmp_path)
    return {base: write_segment(directory, parts, base) for base, parts in SEGMENTS.items()}


def committed(root: Path, mode: str, start: int | None, end: int | None) -> set[int]:
    scan = open_log(
        root,
        isolation="read_committed",
        mode=mode,
        columns=["offset", "value"],
        start_offsets=start,
        end_offsets=end,
    )
    return set(scan.read_all()["offset"].to_pylist())


def check(root: Path, what: object, *, is_closed: bool = True) -> None:
    """`is_closed`: whether it is the closed segment that is damaged."""
    for row in transactions(root).to_pylist():
        for producer, offsets in ABORTED:
            is_of_it = row["producer_id"] == producer and row["first_offset"] in offsets
            assert not (is_of_it and row["state"] == "committed"), (what, row)
        assert (row["producer_id"], row["state"]) != (8, "committed"), (what, row)
    for start, end in RANGES:
        wanted = {each for each in COMMITTED if (start or 0) <= each < (end or 99)}
        with contextlib.suppress(OfflineError):
            found = committed(root, "FAILFAST", start, end)
            # A damaged end of the last segment is the end of the log, with open transactions.
            assert found <= wanted, (what, start, end)
            assert found >= {each for each in wanted if each < 12}, (what, start, end)
            assert found == wanted or not is_closed, (what, start, end)
    assert committed(root, "DROPMALFORMED", None, None) <= COMMITTED | BEHIND, what


def test_it_is_whole(log: dict[int, Path], tmp_path: Path):
    check(tmp_path, "nothing")
    for start, end in RANGES:
        assert committed(tmp_path, "FAILFAST", start, end)
    assert committed(tmp_path, "DROPMALFORMED", None, None) == COMMITTED
    states = [(row["producer_id"], row["state"]) for row in transactions(tmp_path).to_pylist()]
    expected = [(7, "aborted"), (6, "committed"), (9, "aborted"), (7, "committed")]
    assert states == [*expected, (6, "aborted"), (9, "committed"), (8, "open")]


def places() -> list[tuple[int, int, int]]:
    """(segment, position, size) of every batch; those of markers, and lengths, count double."""
    found: list[tuple[int, int, int]] = []
    for base, parts in SEGMENTS.items():
        starts = itertools.accumulate(map(len, parts), initial=0)
        for start, part in zip(starts, parts, strict=False):
            found += [(base, start, len(part)), (base, start + 8, 4)]
            found += [(base, start, len(part))] * (len(part) < 100)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_one_bit(log: dict[int, Path], tmp_path: Path, seed: int):
    chance = random.Random(seed)
    for _ in range(60):
        base, start, size = chance.choice(places())
        at, bit = start + chance.randrange(min(size, 90)), chance.randrange(8)
        sound = log[base].read_bytes()
        broken = bytearray(sound)
        broken[at] ^= 1 << bit
        log[base].write_bytes(broken)
        check(tmp_path, (base, at, bit))
        log[base].write_bytes(sound)


@pytest.mark.parametrize("seed", range(6))
def test_holes_and_garbage(log: dict[int, Path], tmp_path: Path, seed: int):
    """Some bytes zeroed or overwritten, taken out or put in.

    (Not just so many that a whole marker is gone, and its neighbours fit: compaction leaves that.)
    """
    chance = random.Random(100 + seed)
    for _ in range(40):
        base, start, size = chance.choice(places())
        at, length = start + chance.randrange(size), chance.choice([1, 3, 20, 77, 79, 300, 700])
        kind = chance.choice(["zeros", "noise", "out", "in"])
        sound = log[base].read_bytes()
        piece = {"zeros": bytes(length), "noise": chance.randbytes(length), "out": b""}
        filled = piece.get(kind, chance.randbytes(length))[: len(sound) - at]
        behind = at if kind == "in" else at + length
        log[base].write_bytes(sound[:at] + filled + sound[behind:])
        check(tmp_path, (base, at, length, kind), is_closed=not base)
        log[base].write_bytes(sound)


@pytest.mark.parametrize("bytes_less", [1, 20, 70, 80])
def test_a_closed_segment_that_was_cut(log: dict[int, Path], tmp_path: Path, bytes_less: int):
    """Within its last marker, which ends the transaction of offsets 16 to 18."""
    log[0].write_bytes(log[0].read_bytes()[:-bytes_less])
    check(tmp_path, bytes_less)
    with pytest.raises(OfflineError):
        committed(tmp_path, "FAILFAST", None, None)
