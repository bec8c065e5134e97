"""Which batches of a chunk are decoded, and the faults of the others."""

from __future__ import annotations

import struct
import tempfile
from typing import Any

import pytest

from pykbroker.offline.aborted_ranges import AbortedByProducer
from pykbroker.offline.batch_headers import walk
from pykbroker.offline.chunk import Chunk
from pykbroker.offline.chunk_choice import ChunkChoice
from pykbroker.offline.offset_order import OffsetOrder
from pykbroker.offline.segment_index import KnownBatches
from pykbroker.offline.split import AbortedRange, Split
from pykbroker.offline.storage import LocalFile
from pykbroker.protocol.record_batch import build_batch
from tests.offline.samples import BASE_MS, simple_batches

SIZE = len(simple_batches(1)[0])


def chosen(
    content: bytes, *, behind: int | None = None, is_at_end: bool = True, **wanted: Any
) -> tuple[list[int], dict[int, str], int | None]:
    """(wanted, faults, lost) of five batches of ten records."""
    split = Split("/x", "t", 0, 0, 0, len(content), **wanted)
    buffer = bytearray(content)
    choice = ChunkChoice(Chunk(buffer, walk(buffer, len(buffer))[0], 0), split, behind)
    choice.check_sums()
    with tempfile.NamedTemporaryFile() as file, LocalFile(file.name) as opened:
        choice.check_headers(KnownBatches(opened, None, 0), is_at_end=is_at_end)
    choice.check_offsets(OffsetOrder(split))
    return choice.wanted(None).tolist(), choice.faults, choice.lost


def damaged(at: int, form: str, value: int, batch: int = 2) -> bytes:
    content = bytearray(b"".join(simple_batches(5)))
    struct.pack_into(form, content, batch * SIZE + at, value)
    return bytes(content)


@pytest.mark.parametrize(
    "wanted, indices",
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"start_offset": 10, "end_offset": 31}, [1, 2, 3]),
        ({"start_offset": 19, "end_offset": 20}, [1]),
        ({"start_timestamp_ms": BASE_MS + 25}, [2, 3, 4]),
    ],
)
def test_what_is_asked_for(wanted: dict[str, Any], indices: list[int]):
    assert chosen(b"".join(simple_batches(5)), **wanted) == (indices, {}, None)


@pytest.mark.parametrize(
    "content, told",
    [
        (damaged(17, ">I", 1), "the checksum does not match the batch"),
        (damaged(16, ">b", 1), "record batch of magic 1"),
        (damaged(0, ">q", 7), "base offset 7 after offset 19"),
    ],
)
def test_what_is_wrong(content: bytes, told: str):
    assert chosen(content) == ([0, 1, 3, 4], {2: told}, None)
    if "checksum" in told:  # nobody asks
        assert chosen(content, start_offset=30) == ([3, 4], {}, None)


def test_behind_what_is_lost():
    """The last one has another length: what comes then is no batch, and the chunk ends before."""
    content = damaged(17, ">I", 1, batch=4)
    assert chosen(content, is_at_end=False) == (
        [0, 1, 2, 3],
        {4: "the checksum does not match the batch"},
        4,
    )
    assert chosen(content, behind=50, is_at_end=False)[2] is None


def test_a_damaged_one_that_nobody_asks_for_has_no_say():
    content = damaged(23, ">i", 25, batch=1)  # its last offset reaches over the next one
    assert chosen(content, start_offset=20) == ([2, 3, 4], {}, None)
    assert 1 in chosen(content)[1]


def test_markers_and_aborted_ones_are_not_wanted():
    rows = [(None, b"v", BASE_MS, ())]
    kinds: tuple[dict[str, Any], ...] = ({}, {"is_control": True}, {})
    content = bytearray().join(
        build_batch(rows, base_offset=offset, producer_id=9, is_transactional=True, **kind)
        for offset, kind in enumerate(kinds)
    )
    chunk = Chunk(content, walk(content, len(content))[0], 0)
    choice = ChunkChoice(chunk, Split("/x", "t", 0, 0, 0, len(content)), None)
    assert choice.wanted(None).tolist() == [0, 2]
    assert choice.wanted(AbortedByProducer([AbortedRange(9, 0, 1)])).tolist() == [2]
