"""The table of transactions, also where a marker is damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import transactions
from pykbroker.protocol.control_records import ABORT, COMMIT
from pykbroker.protocol.record_batch import LOG_APPEND_TIME, build_batch
from tests.offline.samples import BASE_MS, HORIZON_MS, ROWS, partition_directory, write_segment
from tests.offline.test_partition_check import batch as data_batch
from tests.offline.test_partition_check import marker


def test_the_clock_of_a_transaction(tmp_path: Path):
    parts = []
    clocks: tuple[dict[str, Any], ...] = (
        {"delete_horizon_ms": HORIZON_MS},
        {"timestamp_type": LOG_APPEND_TIME, "log_append_time": BASE_MS + 50},
        {},
    )
    for base, more in zip((0, 4, 8), clocks, strict=True):
        batch_of: dict[str, Any]
        batch_of = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
        parts.append(bytes(build_batch(ROWS, base_offset=base, **batch_of, **more)))
        parts.append(marker(base + 3, COMMIT, 7))
    write_segment(partition_directory(tmp_path), parts)
    rows = transactions(str(tmp_path)).to_pylist()
    found = [(row["first_timestamp_ms"] - BASE_MS, row["timestamp_type"]) for row in rows]
    assert found == [(30, 0), (50, 1), (20, 0)]


def damaged(batch: bytes, how: str) -> bytes:
    broken = bytearray(batch)
    if how == "record":
        broken[-1] ^= 1
    elif how == "attributes":
        broken[22] = 0  # neither transactional nor a marker any more
    elif how == "length":
        broken[8:12] = bytes(4)
    else:
        broken[43:51] = (999).to_bytes(8)  # the producer
    return bytes(broken)


def rows_of(root: Path, parts: list[bytes], at: int, how: str) -> list[tuple[Any, ...]]:
    """Of a segment whose batch number `at` is damaged."""
    path = write_segment(partition_directory(root), parts, index_every=1)
    path.write_bytes(b"".join([*parts[:at], damaged(parts[at], how), *parts[at + 1 :]]))
    rows = transactions(str(root)).to_pylist()
    names = ("producer_id", "state", "first_offset", "last_offset", "record_count")
    return [tuple(row[name] for name in names) for row in rows]


@pytest.mark.parametrize("how", ["record", "attributes", "length", "producer"])
def test_a_damaged_marker_is_no_commit(tmp_path: Path, how: str):
    """What follows is a transaction of its own, and has its own outcome."""
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        marker(10, ABORT, 7),
        data_batch(11, sequence=10, producer=7, transactional=1),
        marker(21, COMMIT, 7),
    ]
    found = rows_of(tmp_path, parts, 1, how)
    assert found == [(7, "unknown", 0, 9, 10), (7, "committed", 11, 21, 10)]


def test_open_ones_of_other_producers(tmp_path: Path):
    """Nothing that a damaged batch says is believed, its producer neither."""
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        data_batch(10, sequence=0, producer=8, transactional=1),
        marker(20, ABORT, 7),
        marker(21, ABORT, 8),
    ]
    found = rows_of(tmp_path, parts, 2, "record")
    assert found == [(7, "unknown", 0, 9, 10), (8, "unknown", 10, 19, 10)]


@pytest.mark.parametrize("how", ["record", "attributes", "producer"])
def test_what_has_its_place_and_is_too_large_was_no_marker(tmp_path: Path, how: str):
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        data_batch(10, sequence=0, producer=-1),
        marker(20, COMMIT, 7),
    ]
    assert rows_of(tmp_path, parts, 1, how) == [(7, "committed", 0, 20, 10)]


def test_a_hole_may_have_been_a_marker(tmp_path: Path):
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        data_batch(10, sequence=0, producer=-1),
        marker(20, COMMIT, 7),
    ]
    assert rows_of(tmp_path, parts, 1, "length") == [(7, "unknown", 0, 9, 10)]


def test_a_damaged_batch_begins_no_transaction(tmp_path: Path):
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        data_batch(10, sequence=10, producer=7, transactional=1),
        marker(20, ABORT, 7),
    ]
    assert rows_of(tmp_path, parts, 0, "producer") == [(7, "aborted", 10, 20, 10)]


def test_the_offset_of_a_marker_is_where_it_stands(tmp_path: Path):
    """No checksum covers it."""
    parts = [
        data_batch(0, sequence=0, producer=7, transactional=1),
        marker(10, ABORT, 7),
        data_batch(11, sequence=10, producer=7, transactional=1),
        marker(21, COMMIT, 7),
    ]
    for offset in (3, 1 << 62):
        path = write_segment(partition_directory(tmp_path), parts, index_every=1)
        path.write_bytes(b"".join([parts[0], offset.to_bytes(8) + parts[1][8:], *parts[2:]]))
        rows = transactions(str(tmp_path)).to_pylist()
        assert [(row["state"], row["last_offset"]) for row in rows] == [
            ("aborted", 10),
            ("committed", 21),
        ]
