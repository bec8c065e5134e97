"""The states, as records and tools have them."""

from __future__ import annotations

from pykbroker.coordinator.transaction.states import (
    COMES_FROM,
    MAY_EXPIRE,
    STATE_NAMES,
    TransactionState,
)


def test_numbers_and_names_are_kafkas() -> None:
    assert [(state.value, state.shown) for state in TransactionState] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
    ]
    assert {"Dead", "PrepareEpochFence"} < STATE_NAMES


def test_an_outcome_is_only_followed_by_its_completion() -> None:
    for state in TransactionState:
        followers = {later for later, earlier in COMES_FROM.items() if state in earlier}
        assert followers, state
        if state.is_ending:
            assert len(followers) == 1
            assert state not in MAY_EXPIRE
