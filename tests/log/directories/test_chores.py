"""What waits for the housekeeping."""

from __future__ import annotations

from pykbroker.log.directories.chores import Chores, Deletion
from tests.log.log_makers import memory_disk, open_orders


def test_deletions_wait_for_their_delay() -> None:
    chores = Chores()
    chores.delete_later(["a", "b"], 100)
    chores.delete_later(["c"], 50, is_directory=True)
    assert chores.due_deletions(1000) == []
    assert chores.pending_deletions == 2
    assert chores.due_deletions(1049) == []
    assert chores.due_deletions(1050) == [Deletion(("c",), True)]
    assert chores.due_deletions(1100) == [Deletion(("a", "b"), False)]
    assert chores.pending_deletions == 0
    chores.delete_later(["d"], 0)
    assert chores.due_deletions(1100) == [Deletion(("d",), False)]


def test_rolled_logs_are_named_once() -> None:
    chores = Chores()
    log = open_orders(memory_disk())
    chores.rolled(log)
    chores.rolled(log)
    assert chores.take_rolled() == [log]
    assert chores.take_rolled() == []
    chores.rolled(log)
    chores.forget(log)
    assert chores.take_rolled() == []
