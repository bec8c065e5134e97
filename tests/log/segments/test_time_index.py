"""pykbroker.log.segments.time_index against Apache's file and a plain model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.segments.time_index import TimeIndex

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"


def test_apaches_file() -> None:
    payload = (APACHE / "00000000000000001000.timeindex").read_bytes()
    index = TimeIndex(1000, 4096, payload)
    assert index.entries() == [(1700000000000, 1010), (1700000000500, 1300)]
    assert index.last_entry == (1700000000500, 1300)
    assert index.check() is None
    again = TimeIndex(1000, 4096)
    assert again.last_entry == (-1, 1000)
    assert b"".join(again.append(*entry) for entry in index.entries()) == payload[:24]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), max_size=40),
    st.integers(-1, 3000),
)
def test_look_ups(steps: list[tuple[int, int]], target: int) -> None:
    index = TimeIndex(500, 1000)
    model = [(-1, 500)]
    timestamp, offset = 0, 500
    for timestamp_step, offset_step in steps:
        timestamp += timestamp_step
        offset += offset_step
        written = index.append(timestamp, offset)
        assert bool(written) == (timestamp > model[-1][0])
        if written:
            model.append((timestamp, offset))
    assert index.lookup(target) == max(entry for entry in model if entry[0] <= target)
    assert index.last_entry == model[-1]


def test_limits() -> None:
    index = TimeIndex(0, 36)  # room for three entries, one of them kept free
    index.append(10, 1)
    index.append(20, 2)
    assert index.is_full
    with pytest.raises(ValueError, match="full"):
        index.append(30, 3)
    assert index.append(30, 3, force=True)
    with pytest.raises(ValueError, match="is before"):
        index.append(29, 4, force=True)
    with pytest.raises(ValueError, match="is before"):
        index.append(31, 2, force=True)
    assert index.append(30, 9, force=True) == b""


def test_garbage_is_found() -> None:
    entry = TimeIndex.ENTRY.pack
    for garbage in (entry(5, 1) + entry(5, 2), entry(5, 3) + entry(6, 2), entry(1, -1)):
        found = TimeIndex(0, 100, garbage).check()
        assert found is not None
        assert "time index" in found
