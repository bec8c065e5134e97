"""What the ledger of a group notices."""

from __future__ import annotations

import pytest

from pykbroker.testing.world.group_ledger import NOT_COMMITTED, GroupLedger
from pykbroker.testing.world.world import Violation


def check(ledger: GroupLedger, offset: int, partition: int = 0) -> None:
    ledger.check_fetched(ledger.snapshot([partition]), partition, offset)


def test_one_leader_a_generation() -> None:
    ledger = GroupLedger("g")
    ledger.joined(1, "a", "a")
    ledger.joined(1, "b", "a")
    ledger.joined(2, "b", "b")
    with pytest.raises(Violation, match="led by a and by c"):
        ledger.joined(1, "c", "c")


def test_members_get_what_their_leader_assigned() -> None:
    ledger = GroupLedger("g")
    ledger.assigned(1, {"a": [0], "b": [1, 2]})
    ledger.owns(1, "a", [0])
    with pytest.raises(Violation, match="its leader assigned"):
        ledger.owns(1, "b", [1])


def test_one_owner_a_partition() -> None:
    ledger = GroupLedger("g")
    ledger.owns(1, "a", [0, 1])
    ledger.owns(2, "b", [0])
    with pytest.raises(Violation, match="belongs to a and b"):
        ledger.owns(1, "b", [1])


def test_the_latest_commit_counts() -> None:
    ledger = GroupLedger("g")
    check(ledger, NOT_COMMITTED)
    first = ledger.commit_sent(1, 0)
    check(ledger, NOT_COMMITTED)
    check(ledger, first.offset)
    ledger.commit_answered(first)
    with pytest.raises(Violation, match="expected one of"):
        check(ledger, NOT_COMMITTED)
    second = ledger.commit_sent(1, 0)
    ledger.commit_answered(second)
    check(ledger, second.offset)
    with pytest.raises(Violation, match="expected one of"):
        check(ledger, first.offset)


def test_commits_that_overlap_have_no_order() -> None:
    ledger = GroupLedger("g")
    first, second = ledger.commit_sent(1, 0), ledger.commit_sent(1, 0)
    ledger.commit_answered(second)
    ledger.commit_answered(first)
    check(ledger, first.offset)
    check(ledger, second.offset)
    third = ledger.commit_sent(1, 0)
    ledger.commit_answered(third)
    for gone in (first, second):
        with pytest.raises(Violation, match="expected one of"):
            check(ledger, gone.offset)


def test_refused_commits_never_count_and_unanswered_ones_may() -> None:
    ledger = GroupLedger("g")
    refused, unanswered = ledger.commit_sent(1, 0), ledger.commit_sent(1, 0)
    ledger.commit_refused(refused)
    last = ledger.commit_sent(1, 0)
    ledger.commit_answered(last)
    check(ledger, unanswered.offset)
    with pytest.raises(Violation, match="expected one of"):
        check(ledger, refused.offset)


def test_an_old_generation_must_not_commit() -> None:
    ledger = GroupLedger("g")
    ledger.joined(1, "a", "a")
    in_time = ledger.commit_sent(1, 0)
    ledger.joined(2, "b", "b")
    late = ledger.commit_sent(1, 0)
    ledger.commit_answered(in_time)
    with pytest.raises(Violation, match="after a member had joined a later one"):
        ledger.commit_answered(late)


def test_a_generation_that_nobody_synced_may_come_again_after_an_end() -> None:
    ledger = GroupLedger("g")
    ledger.joined(1, "a", "a")
    ledger.owns(1, "a", [0])
    ledger.joined(2, "a", "a")
    ledger.process_ended()
    ledger.joined(2, "b", "b")
    with pytest.raises(Violation, match="led by a and by b"):
        ledger.joined(1, "b", "b")
    with pytest.raises(Violation, match="belongs to a and b"):
        ledger.owns(1, "b", [0])


def test_after_a_power_failure_everything_that_was_sent_is_possible() -> None:
    ledger = GroupLedger("g")
    ledger.joined(7, "a", "a")
    first, second = ledger.commit_sent(7, 0), ledger.commit_sent(7, 0)
    ledger.commit_answered(first)
    ledger.commit_answered(second)
    ledger.power_lost()
    for possible in (NOT_COMMITTED, first.offset, second.offset):
        check(ledger, possible)
    ledger.joined(7, "b", "b")
    ledger.commit_answered(second)  # of the life before: it tells nothing
    third = ledger.commit_sent(7, 0)
    ledger.commit_answered(third)
    with pytest.raises(Violation, match="expected one of"):
        check(ledger, NOT_COMMITTED)
