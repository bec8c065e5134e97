"""One member: its protocols, and what keeps its session."""

from __future__ import annotations

import pytest

from tests.coordinator.group.classic.test_group import member


def test_it_votes_for_the_first_candidate_it_knows() -> None:
    one = member("a", "x", "y", "z")
    assert one.vote({"z", "y"}) == "y"
    assert one.metadata("x") == one.protocols[0][1]


@pytest.mark.parametrize(
    ("is_new", "awaiting", "keeps"),
    [(False, None, False), (False, "join", True), (False, "sync", True), (True, "join", False)],
)
def test_waiting_for_a_rebalance_keeps_the_session_of_known_members(
    is_new: bool, awaiting: str | None, keeps: bool
) -> None:
    one = member("a")
    one.is_new = is_new
    if awaiting == "join":
        one.awaiting_join = 1
    elif awaiting == "sync":
        one.awaiting_sync = 1
    assert one.keeps_session is keeps
