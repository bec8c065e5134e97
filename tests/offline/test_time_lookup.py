"""The offset of a time: the first record that late, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline import CorruptSegment, Selection
from pykbroker.offline.time_lookup import offset_of_time
from pykbroker.protocol.control_records import ABORT
from pykbroker.protocol.record_batch import assemble_batch, build_batch, unpack_header
from tests.offline.log_writer import LogWriter
from tests.offline.samples import BASE_MS, partition_directory, simple_batches, write_segment


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_markers_and_aborted_records_count(tmp_path: Path, isolation: str):
    log = LogWriter(tmp_path, segment_batches=3)
    log.write(-1, 3)
    log.write(10, 4)
    log.end(10, ABORT)
    log.write(-1, 2)
    log.roll()
    chosen = Selection((str(tmp_path),), isolation=isolation)
    for offset in range(10):  # each record is of its offset's time
        assert offset_of_time(chosen, BASE_MS + offset) == offset
    assert offset_of_time(chosen, 0) == 0
    assert offset_of_time(chosen, BASE_MS + 10) is None


def test_the_first_in_the_log_is_meant_not_the_earliest(tmp_path: Path):
    times = [50, 10, 90, 20, 95]
    batches = [
        bytes(build_batch([(None, b"", BASE_MS + time, ())], base_offset=offset))
        for offset, time in enumerate(times)
    ]
    write_segment(partition_directory(tmp_path), batches)
    chosen = Selection((str(tmp_path),))
    assert offset_of_time(chosen, BASE_MS + 15) == 0
    assert offset_of_time(chosen, BASE_MS + 60) == 2
    assert offset_of_time(chosen, BASE_MS + 91) == 4
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    assert offset_of_time(chosen, BASE_MS + 60) == 4


def test_a_damaged_time_is_not_passed_over(tmp_path: Path):
    """What it says of its time may be wrong: who looks for a later one is told, or begins there."""
    batches = simple_batches(6)
    path = write_segment(partition_directory(tmp_path), batches)
    old = (BASE_MS - 9).to_bytes(8)
    path.write_bytes(
        b"".join([*batches[:2], batches[2][:35] + old + batches[2][43:], *batches[3:]])
    )
    chosen = Selection((str(tmp_path),))
    with pytest.raises(CorruptSegment, match="the checksum does not match"):
        offset_of_time(chosen, BASE_MS + 22)
    assert offset_of_time(chosen, BASE_MS + 22, "PERMISSIVE") == 20
    assert offset_of_time(chosen, BASE_MS + 15) == 15


def test_damage_at_the_beginning_of_a_segment_leads_to_that_segment(tmp_path: Path):
    batches = simple_batches(6)
    directory = partition_directory(tmp_path)
    write_segment(directory, batches[:3])
    path = write_segment(directory, batches[3:], base_offset=30)
    path.write_bytes(b"".join([batches[3][:-1] + b"?", *batches[4:]]))
    chosen = Selection((str(tmp_path),))
    assert offset_of_time(chosen, BASE_MS + 45, "PERMISSIVE") == 30


def test_records_that_cannot_be_decoded_are_not_passed_over(tmp_path: Path):
    batches = simple_batches(6)
    broken = bytes(assemble_batch(b"\xff" * 60, unpack_header(batches[2])))
    write_segment(partition_directory(tmp_path), [*batches[:2], broken, *batches[3:]])
    chosen = Selection((str(tmp_path),))
    with pytest.raises(CorruptSegment):
        offset_of_time(chosen, BASE_MS + 22)
    assert offset_of_time(chosen, BASE_MS + 22, "DROPMALFORMED") == 20
    assert offset_of_time(chosen, BASE_MS + 15, "DROPMALFORMED") == 15


def test_batches_out_of_order_are_not_passed_over(tmp_path: Path):
    """The second one's offset was wrong, or the third one's: nobody knows."""
    batches = simple_batches(6)
    swapped = [batches[0], batches[2], batches[1], *batches[3:]]
    write_segment(partition_directory(tmp_path), swapped)
    chosen = Selection((str(tmp_path),))
    with pytest.raises(CorruptSegment, match="reach beyond the base offset 10"):
        offset_of_time(chosen, BASE_MS + 15)
    assert offset_of_time(chosen, BASE_MS + 15, "PERMISSIVE") == 10
    assert offset_of_time(chosen, BASE_MS + 5) == 5


@pytest.mark.parametrize(
    "at, value", [(8, b"\xff\xff\xff\xff"), (8, b"\x40\0\0\0"), (16, b"\1"), (0, b"\0\1\0\0")]
)
def test_what_is_no_batch_is_not_passed_over(tmp_path: Path, at: int, value: bytes):
    """Its length, its magic; a wrong checksum with an offset that is not believed either."""
    times = [0, 1, 5, 1, 5, 6, 7]
    batches = [
        bytes(build_batch([(None, b"v" * 20, BASE_MS + time, ())], base_offset=offset))
        for offset, time in enumerate(times)
    ]
    path = write_segment(partition_directory(tmp_path), batches, index_every=1)
    broken = bytearray(batches[2])
    broken[at : at + len(value)] = value
    broken[-1] ^= 1
    path.write_bytes(b"".join([*batches[:2], bytes(broken), *batches[3:]]))
    chosen = Selection((str(tmp_path),))
    with pytest.raises(CorruptSegment):
        offset_of_time(chosen, BASE_MS + 5)
    assert offset_of_time(chosen, BASE_MS + 5, "DROPMALFORMED") == 2
