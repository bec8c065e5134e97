"""pykbroker.log.segments.offset_index against Apache's file and a plain model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.segments.offset_index import OffsetIndex

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"


def test_apaches_file_with_its_preallocated_tail() -> None:
    payload = (APACHE / "00000000000000001000.index").read_bytes()
    assert len(payload) == 4096
    index = OffsetIndex(1000, 4096, payload)
    assert index.entries() == [(1010, 5000), (1300, 70_000), (9000, 2_000_000_000)]
    assert index.last_offset == 9000
    assert index.check() is None
    again = OffsetIndex(1000, 4096)
    assert b"".join(again.append(*entry) for entry in index.entries()) == payload[:24]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 5000)), max_size=40),
    st.integers(0, 3000),
    st.integers(0, 100_000),
    st.integers(0, 9000),
)
def test_look_ups(
    steps: list[tuple[int, int]], ahead: int, position: int, fetch_bytes: int
) -> None:
    index = OffsetIndex(500, 1000)
    model = [(500, 0)]
    for offset_step, position_step in steps:
        model.append((model[-1][0] + offset_step, model[-1][1] + position_step))
        index.append(*model[-1])
    target = 500 + ahead
    assert index.lookup(target) == max(entry for entry in model if entry[0] <= target)
    above = [entry for entry in model[1:] if entry[1] >= position + fetch_bytes]
    assert index.upper_bound(position, fetch_bytes) == (above[0] if above else None)
    assert index.last_offset == model[-1][0]


def test_limits() -> None:
    index = OffsetIndex(0, 20)  # room for two entries
    index.append(5, 100)
    with pytest.raises(ValueError, match="not above"):
        index.append(5, 200)
    index.append(6, 200)
    assert index.is_full
    with pytest.raises(ValueError, match="full"):
        index.append(7, 300)


@pytest.mark.parametrize(
    "entries", ["00000005000000090000000500000010", "0000000900000010ffffffff"]
)
def test_garbage_is_found(entries: str) -> None:
    garbage = bytes.fromhex(entries).ljust(16, b"\x01")
    found = OffsetIndex(0, 100, garbage).check()
    assert found is not None
    assert "offset index" in found
