"""Where a log that is written to, or whose writer was killed, ends."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import CorruptSegment, fsck, open_log, segment_walk
from pykbroker.offline.frozen_end import FrozenEnd, freeze
from pykbroker.offline.layout import read_partitions
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import partition_directory, simple_batches, write_segment

BATCHES = simple_batches(20, size=500)
WHOLE = sum(map(len, BATCHES))


def frozen(root: Path, tail: bytes, *, with_index: bool = True) -> FrozenEnd:
    path = write_segment(partition_directory(root), BATCHES)
    if not with_index:
        path.with_suffix(".index").unlink()
    with path.open("ab") as opened:
        opened.write(tail)
    (files,) = read_partitions([str(root)])
    return freeze(files)


NEXT = simple_batches(1, base_offset=200)[0]
FLIPPED = NEXT[:-1] + bytes([NEXT[-1] ^ 1])


@pytest.mark.parametrize("with_index", [True, False])
@pytest.mark.parametrize(
    "tail",
    [b"", b"\x00", NEXT[:30], NEXT[:61], NEXT[:-1], bytes(100_000), FLIPPED, NEXT[:12] + b"\xff"],
    ids=["none", "byte", "half header", "header", "short", "zeros", "checksum", "garbage"],
)
def test_what_is_not_whole_is_the_end(tmp_path: Path, tail: bytes, with_index: bool):
    assert frozen(tmp_path, tail, with_index=with_index) == FrozenEnd(WHOLE, 200)
    assert open_log(str(tmp_path)).read_all().num_rows == 200


def test_a_whole_batch_is_in(tmp_path: Path):
    assert frozen(tmp_path, NEXT) == FrozenEnd(WHOLE + len(NEXT), 210)


def test_a_wrong_checksum_before_the_last_batch_is_corruption(tmp_path: Path):
    after = simple_batches(1, base_offset=210)[0]
    assert frozen(tmp_path, FLIPPED + after).next_offset == 220
    with pytest.raises(CorruptSegment, match=f"position {WHOLE}: the checksum"):
        open_log(str(tmp_path)).read_all()


@pytest.mark.parametrize("with_index", [True, False])
def test_a_length_beyond_the_file_before_sound_batches_is_corruption(
    tmp_path: Path, with_index: bool
):
    lying = NEXT[:8] + b"\x7f\xff\xff\xff" + NEXT[12:]
    after = simple_batches(3, base_offset=210)
    tail = lying + b"".join(after)
    end = frozen(tmp_path, tail, with_index=with_index)
    assert end == FrozenEnd(WHOLE + len(tail), 240)
    with pytest.raises(CorruptSegment, match=f"position {WHOLE}: record batch of 2147483659"):
        open_log(str(tmp_path)).read_all()


def test_a_batch_inside_a_half_written_one_is_not_taken_for_the_next(tmp_path: Path):
    inside = simple_batches(1, base_offset=7)[0]  # below what is there already
    outer = bytes(build_batch([(None, inside, 0, ())], base_offset=200))
    assert frozen(tmp_path, outer[:-1]) == FrozenEnd(WHOLE, 200)


def test_garbage_that_no_writer_leaves_is_corruption(tmp_path: Path):
    assert frozen(tmp_path, bytes(70) + b"something").position == WHOLE + 79
    with pytest.raises(CorruptSegment, match="record batch of 12 bytes, less than its header"):
        open_log(str(tmp_path)).read_all()


def test_the_same_bytes_in_a_closed_segment_are_corruption(tmp_path: Path):
    frozen(tmp_path, NEXT[:30])
    write_segment(tmp_path / "t-0", simple_batches(1, base_offset=210), 210)
    with pytest.raises(CorruptSegment, match="30 bytes are too few"):
        open_log(str(tmp_path)).read_all()
    log = open_log(str(tmp_path), mode="PERMISSIVE")
    assert log.read_all().num_rows == 210
    assert log.corrupt_bytes == 30


def test_an_empty_log(tmp_path: Path):
    directory = partition_directory(tmp_path)
    assert open_log(str(tmp_path)).read_all().num_rows == 0
    (directory / f"{7:020d}.log").write_bytes(b"")
    log = open_log(str(tmp_path))
    assert log.read_all().num_rows == 0
    assert (log.partitions[0].log_start_offset, log.partitions[0].log_end_offset) == (7, 7)


def test_an_index_preallocated_with_zeros(tmp_path: Path):
    path = write_segment(partition_directory(tmp_path), BATCHES)
    index = path.with_suffix(".index")
    index.write_bytes(index.read_bytes() + bytes(10_000))
    (files,) = read_partitions([str(tmp_path)])
    assert freeze(files) == FrozenEnd(WHOLE, 200)


@pytest.mark.parametrize("tail", [NEXT[:-1], bytes(1000), FLIPPED], ids=["short", "zeros", "crc"])
@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_what_was_acknowledged_is_no_end(tmp_path: Path, tail: bytes, decoder: str):
    """The node's own high watermark is above what can be read."""
    frozen(tmp_path, tail)
    checkpoint = tmp_path / "replication-offset-checkpoint"
    checkpoint.write_text("0\n1\nt 0 210\n")
    with pytest.raises(CorruptSegment, match=f"position {WHOLE}"):
        open_log(str(tmp_path), decoder=decoder).read_all()
    scan = open_log(str(tmp_path), decoder=decoder, mode="DROPMALFORMED", end_bound="hw")
    assert scan.read_all().num_rows == 200
    assert (scan.corrupt_batches, scan.corrupt_bytes) == (1, len(tail))
    assert {row["check"] for row in fsck(str(tmp_path)).to_pylist()} == {"batches"}
    checkpoint.write_text("0\n1\nt 0 200\n")
    assert open_log(str(tmp_path), decoder=decoder).read_all().num_rows == 200


def test_no_more_is_lost_than_was_acknowledged(tmp_path: Path):
    """What is no batch at all may have held more than one offset."""
    frozen(tmp_path, bytes(8) + b"\xff" * 100)
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\nt 0 210\n")
    given: dict[str, Any]
    given = {"start_offsets": 205, "end_offsets": 207, "fail_on_data_loss": False}
    with pytest.raises(CorruptSegment, match=f"position {WHOLE}"):
        open_log(str(tmp_path), **given).read_all()
    scan = open_log(str(tmp_path), mode="PERMISSIVE", **given)
    assert (scan.read_all().num_rows, scan.partitions[0].log_end_offset) == (0, 210)
    assert scan.corrupt_batches == 1


def old_message(offset: int, value: bytes, magic: int) -> bytes:
    """As Kafka wrote them before 0.11, but with a wrong checksum."""
    time = struct.pack(">q", 1_600_000_000_000) if magic else b""
    fields = time + struct.pack(">i", 1) + b"k" + struct.pack(">i", len(value)) + value
    body = struct.pack(">Ibb", 0, magic, 0) + fields
    return struct.pack(">qi", offset, len(body)) + body


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("size", [1, 200])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_damaged_messages_of_older_kafkas_are_named_and_never_an_empty_log(
    tmp_path: Path, magic: int, size: int, count: int, decoder: str
):
    path = partition_directory(tmp_path) / f"{0:020d}.log"
    path.write_bytes(b"".join(old_message(each, bytes(size), magic) for each in range(count)))
    with pytest.raises(CorruptSegment, match=f"position 0: message of magic {magic} with a"):
        open_log(str(tmp_path), decoder=decoder).read_all()
    scan = open_log(str(tmp_path), decoder=decoder, mode="DROPMALFORMED")
    assert scan.read_all().num_rows == 0
    assert scan.corrupt_bytes == path.stat().st_size
    with path.open("ab") as opened:
        opened.write(simple_batches(1, base_offset=10)[0])
    scan = open_log(str(tmp_path), decoder=decoder, mode="DROPMALFORMED")
    assert scan.read_all().num_rows == 10
    assert scan.corrupt_batches >= 1


@pytest.mark.parametrize("every", [1, 4096])
@pytest.mark.parametrize("base", [0, 130, 189])
def test_an_offset_of_the_last_batch_that_is_too_small_hides_nothing(
    tmp_path: Path, every: int, base: int
):
    """No checksum covers it. Who reads is told."""
    batches = simple_batches(20)
    path = write_segment(partition_directory(tmp_path), batches, index_every=every)
    path.write_bytes(b"".join([*batches[:-1], base.to_bytes(8) + batches[-1][8:]]))
    with pytest.raises(CorruptSegment, match=f"base offset {base} after offset 189"):
        open_log(tmp_path).read_all()
    scan = open_log(tmp_path, mode="DROPMALFORMED", columns=["offset"])
    assert scan.read_all()["offset"].to_pylist() == list(range(190))


@pytest.mark.parametrize("zeros", [0, 4096])
@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_a_torn_append_is_the_end_wherever_it_was_torn(tmp_path: Path, zeros: int, isolation: str):
    """Also where the file was longer than what reached the disk, and there are zeros behind it."""
    *written, torn = simple_batches(3, 2)
    path = write_segment(partition_directory(tmp_path), written)
    for length in range(1, len(torn) - 1):
        path.write_bytes(b"".join(written) + torn[:length] + bytes(zeros))
        scan = open_log(tmp_path, isolation=isolation)
        assert scan.partitions[0].log_end_offset == 4, length
        assert scan.read_all().num_rows == 4, length


@pytest.mark.parametrize("every", [1, 4096])
def test_a_damaged_batch_before_the_last_one_moves_no_end(tmp_path: Path, every: int):
    """Any bit of its header but those of its length."""
    batches = simple_batches(20)
    path = write_segment(partition_directory(tmp_path), batches, index_every=every)
    whole = path.read_bytes()
    start = len(whole) - len(batches[-1]) - len(batches[-2])
    (files,) = read_partitions([str(tmp_path)])
    for bit in range(61 * 8):
        if bit // 8 in range(8, 12):
            continue
        broken = bytearray(whole)
        broken[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        assert freeze(files) == FrozenEnd(len(whole), 200), bit


def flipped(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


@pytest.mark.parametrize("count, broken", [(255, 1), (256, 1), (257, 300), (600, 5000)])
def test_however_many_broken_batches_are_the_last_ones(tmp_path: Path, count: int, broken: int):
    """Headers are read in runs: what is sound may be in one before the last."""
    sound = simple_batches(count, 1)
    bad = [flipped(each) for each in simple_batches(broken, 1, base_offset=count)]
    path = write_segment(partition_directory(tmp_path), [*sound, *bad])
    path.with_suffix(".index").unlink()
    (files,) = read_partitions([str(tmp_path)])
    end = path.stat().st_size - len(bad[-1])
    assert freeze(files) == FrozenEnd(end, count)
    small = (3).to_bytes(8) + sound[-1][8:]  # and what the last one says is not believed
    path.write_bytes(b"".join([*sound[:-1], small]))
    assert freeze(files) == FrozenEnd(path.stat().st_size, count)


def test_a_wrong_length_does_not_hide_the_last_batch(tmp_path: Path):
    """What then stands where the next one would begin has a length that fits, by its epoch."""
    batches = [
        bytes(build_batch([(b"k", bytes(200), 5, ())], base_offset=base, leader_epoch=100))
        for base in range(20)
    ]
    path = write_segment(partition_directory(tmp_path), batches)
    path.with_suffix(".index").unlink()
    length = (len(batches[18]) - 12 + 4).to_bytes(4)
    batches[18] = batches[18][:8] + length + batches[18][12:]
    path.write_bytes(b"".join(batches))
    with pytest.raises(CorruptSegment, match="the checksum does not match"):
        open_log(tmp_path).read_all()
    scan = open_log(tmp_path, mode="PERMISSIVE", columns=["offset"])
    assert scan.read_all()["offset"].to_pylist() == [*range(18), 19]


def test_half_a_header_that_comes_while_it_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """In a preallocated file, between two runs of the walk."""
    *written, coming = simple_batches(5, 1)
    path = write_segment(partition_directory(tmp_path), written)
    path.write_bytes(b"".join(written) + bytes(1 << 16))
    walk = segment_walk._walk_by_pread

    def writing(*given: Any) -> Any:
        found = walk(*given)
        with path.open("r+b") as opened:
            opened.seek(sum(map(len, written)))
            opened.write(coming[:40])
        return found

    monkeypatch.setattr(segment_walk, "_walk_by_pread", writing)
    (files,) = read_partitions([str(tmp_path)])
    assert freeze(files).next_offset == 4
    assert open_log(tmp_path).read_all().num_rows == 4
