"""Logs that Kafka before 0.11 began, as both decoders, the views and fsck see them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import CorruptSegment, batches, fsck, log_ends, open_log, plan, segments
from pykbroker.offline.old_part import begins_old, end_of_old, old_steps
from pykbroker.offline.split import Selection
from pykbroker.offline.storage import open_file
from pykbroker.offline.time_lookup import offset_of_time
from pykbroker.protocol.compression import CODEC_NAMES, GZIP, LZ4, NONE, SNAPPY
from pykbroker.protocol.control_records import ABORT
from pykbroker.protocol.record_batch import build_batch
from pykbroker.types import TopicPartition
from tests.harness.old_messages import OLD_MS, Old, compressed, message, old_segment
from tests.offline.log_writer import LogWriter
from tests.offline.samples import partition_directory, write_segment

CODECS = [NONE, GZIP, SNAPPY, LZ4]
DECODERS = ["numpy", "plain"]
NEW_MS = OLD_MS + 1000


def new_batch(first: int, count: int = 5) -> bytes:
    rows = [(b"k%d" % n, b"v%d" % n, NEW_MS + n, ()) for n in range(first, first + count)]
    return bytes(build_batch(rows, base_offset=first, leader_epoch=0))


def mixed(root: Path, magic: int, codec: int) -> Path:
    """Offsets 10 to 29 in one old segment, 30 to 39 old and 40 to 44 new in the next."""
    directory = partition_directory(root)
    (directory / f"{10:020d}.log").write_bytes(old_segment(magic, codec))
    second = directory / f"{30:020d}.log"
    second.write_bytes(old_segment(magic, codec, 30, 10) + new_batch(40))
    for base in (10, 30):
        for suffix in ("index", "timeindex"):
            (directory / f"{base:020d}.{suffix}").write_bytes(b"")
    return second


def rows_of(root: Path, decoder: str, **options: Any) -> list[dict[str, Any]]:
    table = open_log(str(root), decoder=decoder, **options).read_all()
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def time_of(magic: int, offset: int) -> int:
    if offset >= 40:
        return NEW_MS + offset
    return OLD_MS + (offset - 10) % 20 if magic else -1


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_every_record_is_a_row(tmp_path: Path, magic: int, codec: int, decoder: str) -> None:
    mixed(tmp_path, magic, codec)
    columns = ["offset", "key", "value", "timestamp_ms", "timestampType", "codec", "headers"]
    assert rows_of(tmp_path, decoder, columns=columns) == [
        {
            "offset": n,
            "key": b"k%d" % n,
            "value": b"v%d" % n,
            "timestamp_ms": time_of(magic, n),
            "timestampType": -1 if magic == 0 and n < 40 else 0,
            "codec": CODEC_NAMES[codec if n < 40 else NONE],
            "headers": None,
        }
        for n in range(10, 45)
    ]


def test_both_decoders_fill_all_columns_alike(tmp_path: Path) -> None:
    mixed(tmp_path, 1, GZIP)
    columns = ["batch_base_offset", "batch_position", "batch_size", "segment_base_offset"]
    columns += ["producer_id", "base_sequence", "leader_epoch", "is_control", "value_size"]
    found = [rows_of(tmp_path, decoder, columns=columns) for decoder in DECODERS]
    assert found[0] == found[1]
    assert [row["batch_base_offset"] for row in found[0][:6]] == [10] * 5 + [15]
    assert {row["producer_id"] for row in found[0]} == {-1}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("codec", CODECS)
def test_offsets_and_times(tmp_path: Path, codec: int, decoder: str) -> None:
    mixed(tmp_path, 1, codec)

    def offsets(**options: Any) -> list[int]:
        return [row["offset"] for row in rows_of(tmp_path, decoder, **options)]

    for start, end in ((10, 45), (13, 14), (12, 33), (28, 41), (41, 43), (45, 45)):
        assert offsets(start_offsets=start, end_offsets=end) == list(range(start, end))
    assert offsets(start_timestamp_ms=OLD_MS + 7, end_timestamp_ms=OLD_MS + 9) == [17, 18, 37, 38]


@pytest.mark.parametrize("codec", CODECS)
def test_the_offset_of_a_time(tmp_path: Path, codec: int) -> None:
    mixed(tmp_path, 1, codec)
    selection = Selection((str(tmp_path),))
    assert offset_of_time(selection, 0) == 10
    assert offset_of_time(selection, OLD_MS + 13) == 23
    assert offset_of_time(selection, OLD_MS + 20) == 40
    assert offset_of_time(selection, NEW_MS + 45) is None


def test_an_old_segment_is_one_split(tmp_path: Path) -> None:
    mixed(tmp_path, 1, GZIP)
    planned = plan(Selection((str(tmp_path),)), split_bytes=10)
    assert [split.start_position for split in planned.splits][:2] == [0, 0]
    assert log_ends(Selection((str(tmp_path),))) == {TopicPartition("t", 0): (10, 45)}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_views(tmp_path: Path, magic: int, codec: int) -> None:
    mixed(tmp_path, magic, codec)
    found = batches(str(tmp_path)).to_pylist()
    assert sum(row["record_count"] for row in found) == 35
    assert [row["magic"] for row in found] == [magic] * (len(found) - 1) + [2]
    step = 1 if codec == NONE else 5
    assert [row["base_offset"] for row in found] == [*range(10, 40, step), 40]
    assert [row["last_offset"] for row in found] == [*range(10 + step - 1, 40, step), 44]
    assert {row["timestamp_type"] for row in found[:-1]} == {0 if magic else -1}
    table = segments(str(tmp_path)).to_pylist()
    assert [row["record_count"] for row in table] == [20, 15]
    assert [row["next_offset"] for row in table] == [30, 45]
    first = [OLD_MS, OLD_MS] if magic else [None, NEW_MS + 40]
    assert [row["first_timestamp_ms"] for row in table] == first
    assert fsck(str(tmp_path)).to_pylist() == []


def test_fsck_looks_at_their_indexes(tmp_path: Path) -> None:
    path = partition_directory(tmp_path) / f"{10:020d}.log"
    parts = [old_segment(1, GZIP, first, 5) for first in (10, 15)]
    path.write_bytes(b"".join(parts))
    index = path.with_suffix(".index")
    for relative, code in ((5, 0), (9, 0), (3, 1)):
        index.write_bytes(relative.to_bytes(4) + len(parts[0]).to_bytes(4))
        assert len(fsck(str(tmp_path)).to_pylist()) == code


@pytest.mark.parametrize("decoder", DECODERS)
def test_transactions_behind_them(tmp_path: Path, decoder: str) -> None:
    writer = LogWriter(tmp_path)
    writer.offset = writer.base = 10
    writer.write(7, 3)
    writer.end(7, ABORT)
    writer.write(-1, 2)
    batches_behind = writer.batches
    old = old_segment(1, GZIP, 0, 10)
    path = write_segment(writer.directory, batches_behind)
    path.rename(writer.directory / f"{0:020d}.log")
    path = writer.directory / f"{0:020d}.log"
    path.write_bytes(old + path.read_bytes())
    for each in writer.directory.glob("*index"):
        each.unlink()
    found = rows_of(tmp_path, decoder, isolation="read_committed", columns=["offset"])
    assert [row["offset"] for row in found] == [*range(10), 14, 15]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("size", [1, 200])
@pytest.mark.parametrize("number", [0, 2, 5])
def test_damage_costs_one_message(tmp_path: Path, number: int, size: int, decoder: str) -> None:
    path = partition_directory(tmp_path) / f"{0:020d}.log"
    whole = [message(n, Old(b"k", bytes([n]) * size), magic=1) for n in range(6)]
    at = len(whole[0]) * number
    for place, value in ((len(whole[0]) - 1, 0xFF), (8, 0x7F), (11, 1), (16, 9)):
        content = bytearray(b"".join(whole) + new_batch(6))
        content[at + place] = value
        path.write_bytes(content)
        with pytest.raises(CorruptSegment, match=f"position {at}:"):
            rows_of(tmp_path, decoder)
        scan = open_log(str(tmp_path), decoder=decoder, mode="PERMISSIVE", columns=["offset"])
        left = [offset for offset in range(11) if offset != number]
        assert scan.read_all()["offset"].to_pylist() == left
        (row,) = scan.corruptions.to_pylist()
        assert (row["position"], row["size_bytes"]) == (at, len(whole[0]))
        findings = fsck(str(tmp_path)).to_pylist()
        assert ("batches", at) in {(each["check"], each["position"]) for each in findings}


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_message_that_cannot_be_read(tmp_path: Path, decoder: str) -> None:
    path = partition_directory(tmp_path) / f"{0:020d}.log"
    broken = message(1, Old(None, b"no gzip"), magic=1, attributes=GZIP)
    path.write_bytes(message(0, Old(b"k", b"v"), magic=1) + broken + new_batch(2))
    with pytest.raises(CorruptSegment, match="gzip"):
        rows_of(tmp_path, decoder)
    scan = open_log(str(tmp_path), decoder=decoder, mode="DROPMALFORMED", columns=["offset"])
    assert scan.read_all()["offset"].to_pylist() == [0, *range(2, 7)]


@pytest.mark.parametrize("decoder", DECODERS)
def test_offsets_that_go_back(tmp_path: Path, decoder: str) -> None:
    path = partition_directory(tmp_path) / f"{0:020d}.log"
    path.write_bytes(b"".join(message(n, Old(b"k", b"v"), magic=0) for n in (0, 5, 3, 6)))
    with pytest.raises(CorruptSegment, match="base offset 3 after offset 5"):
        rows_of(tmp_path, decoder)


def test_a_torn_end_is_the_end(tmp_path: Path) -> None:
    path = partition_directory(tmp_path) / f"{0:020d}.log"
    whole, torn = (message(n, Old(b"key", b"value" * 9), magic=1) for n in range(2))
    for length in range(1, len(torn)):
        for zeros in (0, 100):
            path.write_bytes(whole + torn[:length] + bytes(zeros if length < 17 else 0))
            scan = open_log(str(tmp_path))
            assert scan.partitions[0].log_end_offset == 1, length
            assert scan.read_all().num_rows == 1, length


def test_steps(tmp_path: Path) -> None:
    path = tmp_path / "file"
    old = compressed(5, [Old(b"k", b"v")] * 3, magic=1, codec=GZIP)
    path.write_bytes(old + new_batch(8))
    size = path.stat().st_size
    with open_file(str(path)) as opened:
        assert begins_old(opened, 0)
        assert not begins_old(opened, len(old))
        (step,) = old_steps(opened, 0, size)
        assert step.header is not None
        assert (step.header.base_offset, step.header.last_offset, step.header.record_count) == (
            5,
            7,
            3,
        )
        assert list(old_steps(opened, len(old), size)) == []
        assert end_of_old(opened, 0, size, 5) == (len(old), 8)
        assert end_of_old(opened, len(old), size, 8) == (len(old), 8)
