"""Tables that share what did not change, against plain dicts."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.kraft.shared_table import MOST_COPIED, SHARD_ENTRIES, SharedTable, merged

CHANGES = st.dictionaries(st.integers(0, 400), st.one_of(st.none(), st.integers(0, 9)))


def applied(before: Mapping[int, int], changes: Mapping[int, int | None]) -> dict[int, int]:
    both = {**before, **changes}
    return {key: value for key, value in both.items() if value is not None}


@given(st.integers(0, 300), st.lists(CHANGES, max_size=5))
def test_every_version_is_as_a_dict(size: int, steps: list[dict[int, int | None]]) -> None:
    expected = {number: -number for number in range(size)}
    table: Mapping[int, int] = SharedTable(expected)
    versions = [(table, expected)]
    for changes in steps:
        table, expected = merged(table, changes), applied(expected, changes)
        versions.append((table, expected))
    for found, same in versions:  # the older ones have not changed
        assert found == same
        assert dict(found) == same
        assert len(found) == len(same)
        assert sorted(found) == sorted(same)
        assert sorted(found.items()) == sorted(same.items())
        assert sorted(found.values()) == sorted(same.values())
        for key in range(401):
            assert found.get(key, "none") == same.get(key, "none")
            assert (key in found) == (key in same)


def test_a_small_table_stays_a_dict_in_its_order() -> None:
    table = merged({"b": 1, "a": 2}, {"c": 3, "b": None})
    assert isinstance(table, dict)
    assert list(table.items()) == [("a", 2), ("c", 3)]
    assert merged(table, {}) is table


def test_a_change_of_a_large_table_copies_what_it_changes() -> None:
    before = merged({number: number for number in range(MOST_COPIED)}, {MOST_COPIED: 0})
    assert isinstance(before, SharedTable)
    after = merged(before, {5: 50, 7: None})
    assert isinstance(after, SharedTable)
    pairs = zip(before.shards, after.shards, strict=True)
    assert sum(old is not new for old, new in pairs) <= 2
    assert (before[5], after[5], 7 in before, 7 in after) == (5, 50, True, False)
    assert len(after) == len(before) - 1
    with pytest.raises(KeyError):
        after[7]


def test_a_table_that_grows_has_more_shards() -> None:
    table: Mapping[int, int] = SharedTable({})
    for number in range(1000):
        table = merged(table, {number: number})
    assert isinstance(table, SharedTable)
    assert max(len(shard) for shard in table.shards) <= 2 * SHARD_ENTRIES
    assert dict(table) == {number: number for number in range(1000)}
