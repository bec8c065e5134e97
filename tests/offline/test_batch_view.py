"""Batches from headers alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import (
    BATCH_SCHEMA,
    Corruption,
    CorruptSegment,
    batches,
    open_log,
    scan_batches,
    segments,
)
from pykbroker.offline.planning import plan
from pykbroker.offline.split import Selection
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import read_header
from tests.offline.samples import (
    BASE_MS,
    batches_without_a_base,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)
from tests.offline.test_partition_check import batch as data_batch
from tests.offline.test_partition_check import marker


@pytest.mark.parametrize("count,records,size", [(600, 1, 1), (30, 10, 400), (3, 2000, 600)])
def test_every_batch_of_any_size(tmp_path: Path, count: int, records: int, size: int):
    written = simple_batches(count, records, size=size)
    write_segment(partition_directory(tmp_path), written)
    table = batches(str(tmp_path))
    assert table.schema == BATCH_SCHEMA
    assert table["base_offset"].to_pylist() == list(range(0, count * records, records))
    assert table["size_bytes"].to_pylist() == list(map(len, written))
    positions = [0]
    for batch in written[:-1]:
        positions.append(positions[-1] + len(batch))
    assert table["position"].to_pylist() == positions


def test_the_fields_of_odd_batches(tmp_path: Path):
    written = odd_batches(4)
    write_segment(partition_directory(tmp_path), written)
    rows = batches(str(tmp_path)).to_pylist()
    assert len(rows) == len(written)
    for row, batch in zip(rows, written, strict=True):
        header = read_header(batch)
        assert row["topic"] == "t"
        assert row["last_offset"] == header.last_offset
        assert row["record_count"] == header.record_count
        assert row["crc"] == header.crc
        assert row["codec"] == ("none", "gzip", "snappy", "lz4", "zstd")[header.codec]
        assert row["timestamp_type"] == header.timestamp_type
        assert row["has_delete_horizon"] == header.has_delete_horizon
        assert row["max_timestamp_ms"] == header.max_timestamp
        assert row["producer_id"] == header.producer_id
        assert row["base_sequence"] == header.base_sequence
        assert row["leader_epoch"] == header.partition_leader_epoch
        assert row["control_type"] is None


def test_a_delete_horizon_is_no_time_of_a_record(tmp_path: Path):
    """KIP-534: it stands in place of the base timestamp."""
    write_segment(partition_directory(tmp_path), batches_without_a_base())
    table = batches(str(tmp_path))
    assert table["has_delete_horizon"].to_pylist() == [True, False, False, False]
    assert table["base_timestamp_ms"].to_pylist() == [None, None, BASE_MS + 50, BASE_MS + 20]
    (segment,) = segments(str(tmp_path)).to_pylist()
    assert segment["first_timestamp_ms"] == BASE_MS + 20


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_records_of_a_batch_with_a_delete_horizon(tmp_path: Path, decoder: str):
    """Their deltas count from the horizon (MemoryRecordsBuilder)."""
    write_segment(partition_directory(tmp_path), batches_without_a_base())
    table = open_log(str(tmp_path), columns=["timestamp_ms"], decoder=decoder).read_all()
    times = [BASE_MS + each for each in (20, 10, 30)]
    assert table["timestamp_ms"].to_pylist() == [*times, *[BASE_MS + 50] * 3, *times]


def test_batches_of_a_time(tmp_path: Path):
    """What may hold records before the end is not left out."""
    write_segment(partition_directory(tmp_path), batches_without_a_base())

    def offsets(start: int, end: int) -> list[int]:
        chosen = Selection(
            (str(tmp_path),), start_timestamp_ms=BASE_MS + start, end_timestamp_ms=BASE_MS + end
        )
        found: list[int] = batches(chosen)["base_offset"].to_pylist()
        return found

    assert offsets(0, 21) == [0, 9]
    assert offsets(31, 60) == [6]


def test_batches_of_aborted_transactions_are_not_committed(tmp_path: Path):
    parts = []
    for number, (kind, base) in enumerate(((COMMIT, 0), (ABORT, 11), (COMMIT, 22))):
        parts.append(data_batch(base, sequence=10 * number, producer=7, transactional=1))
        parts.append(marker(base + 10, kind, 7))
    parts.append(data_batch(33, sequence=30, producer=7, transactional=1))
    write_segment(partition_directory(tmp_path), parts)

    def offsets(isolation: str) -> list[int]:
        found = batches(Selection((str(tmp_path),), isolation=isolation))
        return [row["base_offset"] for row in found.to_pylist() if not row["is_control"]]

    assert offsets("read_committed") == [0, 22]
    assert offsets("read_uncommitted") == [0, 11, 22, 33]


def test_markers_are_named(tmp_path: Path):
    marker = build_marker_batch(
        EndTxnMarker(COMMIT, 1), producer_id=5, producer_epoch=0, timestamp_ms=BASE_MS
    )
    write_segment(partition_directory(tmp_path), [bytes(marker)])
    (row,) = batches(str(tmp_path)).to_pylist()
    assert (row["control_type"], row["is_control"], row["is_transactional"]) == (
        "commit",
        True,
        True,
    )


def test_a_range_of_batches(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(20))
    planned = plan(Selection((str(tmp_path),), start_offsets=95, end_offsets=131))
    found = [row for split in planned.splits for row in scan_batches(split)]
    assert [base for batch in found for base in batch.column("base_offset").to_pylist()] == [
        90,
        100,
        110,
        120,
        130,
    ]


def test_what_is_no_batch_is_stepped_over(tmp_path: Path):
    written = simple_batches(20, size=900)
    path = write_segment(partition_directory(tmp_path), written, index_every=1000)
    broken = bytearray(b"".join(written))
    at = len(written[0]) * 3
    broken[at + 8 : at + 12] = b"\x00\x00\x00\x00"
    path.write_bytes(broken)
    found = batches(str(tmp_path))["base_offset"].to_pylist()
    assert found[:3] == [0, 10, 20]
    assert 30 not in found
    assert found[-1] == 190
    assert len(found) >= 18


def test_failfast_ends_where_no_batch_is(tmp_path: Path):
    written = simple_batches(20, size=900)
    path = write_segment(partition_directory(tmp_path), written, index_every=1000)
    at = len(written[0]) * 3
    broken = bytearray(b"".join(written))
    broken[at + 8 : at + 12] = bytes(4)
    path.write_bytes(broken)
    (split,) = plan(Selection((str(tmp_path),))).splits
    with pytest.raises(CorruptSegment, match=f"position {at}: .* less than its header"):
        list(scan_batches(split, "FAILFAST"))
    told: list[Corruption] = []
    rows = sum(batch.num_rows for batch in scan_batches(split, "DROPMALFORMED", told.append))
    assert [(each.position, each.size_bytes) for each in told] == [
        (at, (20 - rows) * len(written[0]))
    ]
