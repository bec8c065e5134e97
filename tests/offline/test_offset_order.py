"""Which base offsets can be right; the decoders use it in test_fast_decoder."""

from __future__ import annotations

import numpy as np
import pytest

from pykbroker.offline.batch_headers import table_of
from pykbroker.offline.offset_order import OffsetOrder, base_behind
from pykbroker.offline.split import Split
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD, build_batch


def order(base: int = 100, next_base: int = 200) -> OffsetOrder:
    return OffsetOrder(Split("/x", "t", 0, base, 0, 1000, next_base_offset=next_base))


@pytest.mark.parametrize(
    "base, last, behind, reason",
    [
        (100, 109, 110, None),
        (150, 159, None, None),  # a gap: compaction
        (190, 199, None, None),
        (99, 108, None, "offsets 99 to 108 are outside this segment's 100 to 200"),
        (191, 200, None, "outside this segment"),
        (150, 159, 155, "offsets 150 to 159 reach beyond the base offset 155"),
        (100, 109, 105, None),  # it follows on: the next one is wrong
        (150, 159, 20, None),  # so is that one
    ],
)
def test_one_batch(base: int, last: int, behind: int | None, reason: str | None) -> None:
    fault = order().fault(base, last, behind)
    assert (fault is None) == (reason is None)
    assert reason is None or reason in str(fault)


def test_offsets_ascend() -> None:
    looked = order()
    assert looked.fault(100, 109, None) is None
    assert looked.fault(109, 118, None) == "base offset 109 after offset 109"
    assert looked.fault(110, 119, None) is None


def test_many_batches_at_once_are_judged_as_one_by_one() -> None:
    bases = [100, 110, 105, 120, 7, 150]
    heads = b"".join(
        bytes(build_batch([(None, None, 0, ())] * 10, base_offset=base))[:RECORD_BATCH_OVERHEAD]
        for base in bases
    )
    single = order()
    expected = {}
    for index, base in enumerate(bases):
        behind = bases[index + 1] if index + 1 < len(bases) else None
        reason = single.fault(base, base + 9, behind)
        if reason is not None:
            expected[index] = reason
    assert sorted(expected) == [2, 4]
    table = table_of(heads)
    every = np.ones(len(bases), np.bool_)
    assert order().faults(table, every, every, None) == expected
    sound = np.array([True, True, False, True, False, True])
    assert order().faults(table, sound, sound, None) == {}
    assert order().faults(table[:0], every[:0], every[:0], None) == {}


def test_a_batch_with_a_wrong_checksum_has_no_say() -> None:
    """It may claim to reach to the end of the segment."""
    bases = [100, 110, 120]
    batches = [build_batch([(None, None, 0, ())] * 10, base_offset=base) for base in bases]
    heads = [bytearray(batch[:RECORD_BATCH_OVERHEAD]) for batch in batches]
    heads[1][23:27] = (1 << 20).to_bytes(4)
    table = table_of(b"".join(heads))
    every = np.ones(3, np.bool_)
    assert sorted(order().faults(table, every, every, None)) != []
    assert order().faults(table, every, np.array([True, False, True]), None) == {}


def test_the_base_offset_behind_a_chunk() -> None:
    batch = bytes(build_batch([(None, None, 0, ())], base_offset=42))
    head = batch[:RECORD_BATCH_OVERHEAD]
    assert base_behind(head, len(batch)) == 42
    assert base_behind(head, len(batch) - 1) is None  # cut off
    assert base_behind(head[:20], 20) is None
    assert base_behind(head[:16] + b"\x01" + head[17:], len(batch)) is None  # magic 1
