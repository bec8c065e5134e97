"""The log directories that operators were promised."""

from __future__ import annotations

import pytest

from pykbroker.kraft.image import MetadataImage
from pykbroker.testing.world.directory_ledger import DirectoryLedger, Replica
from pykbroker.testing.world.world import Violation

REPLICA = Replica(1, b"t" * 16, 0)


def granted(*paths: str) -> DirectoryLedger:
    ledger = DirectoryLedger()
    for path in paths:
        ledger.grant(REPLICA, ledger.sent(REPLICA, path), is_certain=True)
    return ledger


def possible(ledger: DirectoryLedger) -> set[str]:
    """Return the directories in which the replica may be."""
    found = set()
    for path in ("/a", "/b", "/c"):
        try:
            ledger.check("t-0", REPLICA, path)
        except Violation:
            continue
        found.add(path)
    return found


def test_the_last_grant_counts() -> None:
    ledger = granted("/b", "/c")
    assert possible(ledger) == {"/c"}
    with pytest.raises(Violation, match="t-0: is in /a"):
        ledger.check("t-0", REPLICA, "/a")
    ledger.check("t-1", REPLICA._replace(partition=1), "/a")


def test_a_request_without_an_answer_may_be_carried_out_at_any_time() -> None:
    ledger = granted("/b")
    ledger.sent(REPLICA, "/c")
    assert possible(ledger) == {"/b", "/c"}
    ledger.grant(REPLICA, ledger.sent(REPLICA, "/b"), is_certain=True)
    assert possible(ledger) == {"/b", "/c"}


def test_requests_at_the_same_time_may_be_carried_out_in_any_order() -> None:
    ledger = granted("/a")
    first, second = ledger.sent(REPLICA, "/b"), ledger.sent(REPLICA, "/c")
    ledger.grant(REPLICA, first, is_certain=True)
    ledger.grant(REPLICA, second, is_certain=True)
    assert possible(ledger) == {"/b", "/c"}
    ledger.grant(REPLICA, ledger.sent(REPLICA, "/c"), is_certain=True)
    assert possible(ledger) == {"/c"}


@pytest.mark.parametrize("refused_first", [True, False])
def test_a_refused_request_may_have_ended_a_move_of_the_same_time(refused_first: bool) -> None:
    ledger = granted("/a")
    moved, refused = ledger.sent(REPLICA, "/b"), ledger.sent(REPLICA, "/c")
    if refused_first:
        ledger.refuse(REPLICA, refused)
    ledger.grant(REPLICA, moved, is_certain=True)
    if not refused_first:
        ledger.refuse(REPLICA, refused)
    assert possible(ledger) == {"/a", "/b", "/c"}


def test_a_process_that_ends_may_have_carried_out_half_of_a_request() -> None:
    ledger = granted("/b")
    ledger.process_ended(1)
    assert possible(ledger) == {"/b"}
    ledger.sent(REPLICA, "/c")
    ledger.process_ended(2)
    assert possible(ledger) == {"/b", "/c"}
    ledger.process_ended(1)
    assert possible(ledger) == {"/a", "/b", "/c"}
    ledger.grant(REPLICA, ledger.sent(REPLICA, "/b"), is_certain=True)
    ledger.process_ended(1)
    assert possible(ledger) == {"/b"}  # the next process does not know of the lost request


def test_what_ends_a_promise() -> None:
    everywhere = {"/a", "/b", "/c"}
    ledger = granted("/b")
    ledger.refuse(REPLICA, ledger.sent(REPLICA, "/c"))
    assert possible(ledger) == everywhere
    ledger.grant(REPLICA, ledger.sent(REPLICA, "/c"), is_certain=False)
    assert possible(ledger) == everywhere
    ledger = granted("/b")
    ledger.ended(REPLICA)
    assert possible(ledger) == everywhere
    ledger = granted("/b")
    ledger.take(MetadataImage())  # it is on no node any more
    assert possible(ledger) == everywhere


def test_a_power_failure_leaves_a_replica_where_it_was_or_lets_it_move() -> None:
    ledger = granted("/b")
    ledger.power_lost(2, {})
    assert possible(ledger) == {"/b"}
    ledger.power_lost(1, {(REPLICA.topic_id, 0): "/a"})
    assert possible(ledger) == {"/a", "/b"}
    ledger.power_lost(1, {})
    assert possible(ledger) == {"/a", "/b", "/c"}
