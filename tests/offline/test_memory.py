"""Reading needs memory only for what is decoded at a time, whatever the files contain or claim."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from pykbroker.offline import open_log
from pykbroker.offline.segment_index import sound_batch
from pykbroker.offline.storage import open_file
from pykbroker.protocol.record_batch import BatchHeader, assemble_batch, build_batch, encode_record
from tests.offline.samples import BASE_MS, partition_directory, write_segment

MIB = 1 << 20


@pytest.mark.parametrize("codec", [0, 4])
def test_memory_is_bounded(tmp_path: Path, codec: int):
    value = bytes(2 * MIB)
    batches = [
        bytes(build_batch([(None, value, BASE_MS, ())] * 2, base_offset=2 * n, codec=codec))
        for n in range(20)
    ]
    write_segment(partition_directory(tmp_path), batches)
    held = 0
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    rows = 0
    for batch in open_log(str(tmp_path), columns=["value", "offset"]):
        held = max(held, pa.total_allocated_bytes() - before)
        rows += batch.num_rows
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 40
    assert held < 30 * MIB
    assert peak < 40 * MIB


def test_a_length_that_lies_allocates_nothing(tmp_path: Path):
    batch = bytearray(build_batch([(None, b"v", BASE_MS, ())]))
    batch[8:12] = (0x7FFFFFFF).to_bytes(4)
    path = write_segment(partition_directory(tmp_path), [bytes(build_batch([(None, b"v", 1, ())]))])
    path.write_bytes(bytes(batch))
    path.with_name(f"{5:020d}.log").write_bytes(b"")
    tracemalloc.start()
    log = open_log(str(tmp_path), mode="DROPMALFORMED")
    assert log.read_all().num_rows == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.corrupt_batches == 1
    assert peak < 5 * MIB


def test_the_plain_decoder_holds_few_decompressed_bytes(tmp_path: Path):
    value = bytes(3 * MIB)
    batches = [
        bytes(build_batch([(None, value, BASE_MS, ())], base_offset=n, codec=1)) for n in range(20)
    ]
    write_segment(partition_directory(tmp_path), batches)
    found = list(open_log(str(tmp_path), columns=["value"], decoder="plain"))
    assert sum(each.num_rows for each in found) == 20
    assert max(each.nbytes for each in found) < 8 * MIB


def test_offsets_that_do_not_ascend_are_refused_before_all_is_decoded(tmp_path: Path):
    count = 300_000
    payload = encode_record(0, 0, None, None) * count
    header = BatchHeader(0, 0, 0, 2, 0, 1, count - 1, BASE_MS, BASE_MS, -1, -1, -1, count)
    batch = bytes(assemble_batch(payload, header))
    write_segment(partition_directory(tmp_path), [batch])
    tracemalloc.start()
    log = open_log(str(tmp_path), mode="DROPMALFORMED", decoder="plain")
    assert log.read_all().num_rows == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.corrupt_batches == 1
    assert peak < 10 * MIB


@pytest.mark.parametrize("is_sound", [True, False])
def test_a_large_batch_is_read_whole_only_if_it_is_sound(tmp_path: Path, is_sound: bool):
    batch = build_batch([(None, bytes(40 * MIB), BASE_MS, ())])
    batch[-1] ^= not is_sound
    path = tmp_path / "log"
    path.write_bytes(batch)
    with open_file(str(path)) as opened:
        tracemalloc.start()
        found = sound_batch(opened, 0, len(batch))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found == (batch if is_sound else None)
    assert is_sound or peak < 3 * MIB
