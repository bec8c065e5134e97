"""Committed offsets as replayed, transactions included."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.offset_store import OffsetStore
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue


def commit(
    store: OffsetStore, offset: int, record_offset: int, producer_id: int = -1, partition: int = 0
) -> None:
    value = OffsetCommitValue(offset=offset, metadata="m", commit_timestamp=9)
    store.replay_commit("g", "t", partition, value, record_offset, producer_id)


def committed(store: OffsetStore, partition: int = 0) -> int | None:
    entry = store.get("g", "t", partition)
    return None if entry is None else entry.offset


def test_the_last_commit_counts() -> None:
    store = OffsetStore()
    commit(store, 5, 0)
    commit(store, 3, 1)
    entry = store.get("g", "t", 0)
    assert entry is not None
    assert entry.as_tuple() == (3, -1, "m", 9, -1, bytes(16), 1)


def test_a_tombstone_leaves_nothing_behind() -> None:
    store = OffsetStore()
    commit(store, 5, 0)
    store.replay_tombstone("g", "t", 0)
    store.replay_tombstone("g", "t", 0)
    store.replay_tombstone("nobody", "t", 0)
    assert store.committed == {}


@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_shows_at_its_end(commits: bool) -> None:
    store = OffsetStore()
    commit(store, 5, 0)
    commit(store, 8, 1, producer_id=77)
    commit(store, 1, 2, producer_id=77, partition=1)
    assert committed(store) == 5
    assert store.is_open("g", "t", 0)
    store.replay_end_of_transaction(77, commits)
    assert committed(store) == (8 if commits else 5)
    assert committed(store, 1) == (1 if commits else None)
    assert store.open_by_group == {}
    assert store.pending == {}


def test_a_later_plain_commit_beats_an_earlier_transactional_one() -> None:
    store = OffsetStore()
    commit(store, 8, 1, producer_id=77)
    commit(store, 9, 2)
    store.replay_end_of_transaction(77, True)
    assert committed(store) == 9


def test_two_transactions_on_one_partition() -> None:
    store = OffsetStore()
    commit(store, 8, 1, producer_id=77)
    commit(store, 9, 2, producer_id=78)
    store.replay_end_of_transaction(77, True)
    assert store.is_open("g", "t", 0)
    assert committed(store) == 8
    store.replay_end_of_transaction(78, False)
    store.replay_end_of_transaction(78, True)  # unknown by now
    assert committed(store) == 8
    assert not store.is_open("g", "t", 0)


def test_a_tombstone_takes_pending_offsets_with_it() -> None:
    store = OffsetStore()
    commit(store, 8, 1, producer_id=77)
    store.replay_tombstone("g", "t", 0)
    assert not store.is_open("g", "t", 0)
    store.replay_end_of_transaction(77, True)
    assert committed(store) is None
