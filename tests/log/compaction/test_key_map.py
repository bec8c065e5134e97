"""pykbroker.log.compaction.key_map."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.compaction.key_map import ENTRY_OVERHEAD_BYTES, KeyMap


@given(st.lists(st.lists(st.binary(max_size=2), min_size=1, max_size=5), max_size=10))
def test_the_latest_offset_of_each_key(batches: list[list[bytes]]) -> None:
    keys = KeyMap(1 << 20)
    model: dict[bytes, int] = {}
    offset = 0
    for batch in batches:
        offsets = list(range(offset, offset + len(batch)))
        offset += len(batch)
        keys.put_all(batch, offsets)
        keys.advance_to(offset - 1)
        model.update(zip(batch, offsets, strict=True))
    assert {key: keys.offset_of(key) for key in model} == model
    assert keys.offset_of(b"not there") == -1
    assert len(keys) == len(model)
    assert keys.latest_offset == offset - 1


def test_memory_is_bounded() -> None:
    keys = KeyMap(10 * (ENTRY_OVERHEAD_BYTES + 8))
    for number in range(10):
        assert not keys.is_full
        keys.put_all([b"%08d" % number] * 3, [number] * 3)
    assert keys.is_full
    keys.advance_to(5)
    keys.advance_to(3)
    assert keys.latest_offset == 5
    keys.put_all([], [])
