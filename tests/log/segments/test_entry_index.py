"""pykbroker.log.segments.entry_index: what both indexes of a segment share, by a plain model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.segments.entry_index import EntryIndex
from pykbroker.log.segments.offset_index import OffsetIndex
from pykbroker.log.segments.time_index import TimeIndex


@pytest.mark.parametrize("kind", [OffsetIndex, TimeIndex])
@given(st.lists(st.integers(1, 300), max_size=30), st.integers(0, 9000), st.integers(0, 2000))
def test_payload_truncation_and_look_up(
    kind: type[EntryIndex], steps: list[int], cut: int, zeros: int
) -> None:
    base = 1_000
    model: list[tuple[int, int]] = []
    index = kind(base, 4096)
    written = b""
    offset, other = base, 0
    for step in steps:
        offset += step
        other += step * 256  # so that entries end in zero bytes
        model.append((offset, other) if kind is OffsetIndex else (other, offset))
        written += index.append(*model[-1])  # type: ignore[attr-defined]
    assert index.entries() == model
    assert (index.entry_count, index.size_bytes) == (len(model), len(written))
    assert index.to_bytes() == written

    reopened = kind(base, 4096, written + bytes(zeros))
    assert reopened.to_bytes() == written
    assert reopened.check() is None  # type: ignore[attr-defined]
    reopened.truncate_to(base + cut)
    column = 0 if kind is OffsetIndex else 1
    assert reopened.entries() == [entry for entry in model if entry[column] < base + cut]


@pytest.mark.parametrize("kind", [OffsetIndex, TimeIndex])
def test_relative_offsets_have_31_bits(kind: type[EntryIndex]) -> None:
    index = kind(10, 100)
    for offset in (10 + 2**31, 9):
        arguments = (offset, 1) if kind is OffsetIndex else (1, offset)
        with pytest.raises(ValueError, match="does not fit"):
            index.append(*arguments)  # type: ignore[attr-defined]
