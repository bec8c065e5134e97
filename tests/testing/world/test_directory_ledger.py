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
        ledger.sent(REPLICA, path)
        ledger.grant(REPLICA, path, is_certain=True)
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
    ledger.sent(REPLICA, "/b")
    ledger.grant(REPLICA, "/b", is_certain=True)
    assert possible(ledger) == {"/b", "/c"}


def test_what_ends_a_promise() -> None:
    everywhere = {"/a", "/b", "/c"}
    ledger = granted("/b")
    ledger.sent(REPLICA, "/c")
    ledger.refuse(REPLICA, "/c")
    assert possible(ledger) == everywhere
    ledger.sent(REPLICA, "/c")
    ledger.grant(REPLICA, "/c", is_certain=False)
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
