"""The verdict on records finds each kind of wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos.record_history import RecordHistory

PLACE = ("t", 0)
OTHER = ("t", 1)
Logs = dict[tuple[str, int], list[tuple[int, str]]]


def sound() -> tuple[RecordHistory, Logs]:
    """Six records of two producers over two partitions, with a gap of offsets; nothing is wrong."""
    logs: Logs = {
        PLACE: [(0, "a 0"), (1, "b 0"), (3, "a 2")],
        OTHER: [(0, "a 1"), (1, "b 1"), (2, "a 3")],
    }
    history = RecordHistory()
    history.sent.update({"a": 4, "b": 2})
    for place, log in logs.items():
        for offset, value in log:
            history.acknowledge(place, offset, value)
            history.see(place, offset, value)
    return history, logs


def test_nothing_is_wrong() -> None:
    history, logs = sound()
    assert history.verdict(logs) == []


def lose_the_last(logs: Logs) -> None:
    logs[PLACE].pop()


def repeat_one(logs: Logs) -> None:
    logs[PLACE].append((4, "b 0"))


def repeat_one_elsewhere(logs: Logs) -> None:
    logs[OTHER].append((4, "a 2"))


def exchange_two(logs: Logs) -> None:
    logs[OTHER][0], logs[OTHER][2] = (0, "a 3"), (2, "a 1")


def move_one(logs: Logs) -> None:
    logs[PLACE][2] = (2, "a 2")


def let_an_offset_come_back(logs: Logs) -> None:
    logs[PLACE][2] = (1, "a 2")


def invent_one(logs: Logs) -> None:
    logs[PLACE].append((4, "b 9"))


@pytest.mark.parametrize(
    "change, complaint",
    [
        (lose_the_last, "a 2 is missing"),
        (lose_the_last, "a 2 was acknowledged, but the log has nothing"),
        (lose_the_last, "a 2 was read, but the log has nothing"),
        (repeat_one, "b 0 is stored 2 times"),
        (repeat_one, "b 0 after number 0"),
        (repeat_one_elsewhere, "a 2 is stored 2 times"),
        (exchange_two, "a 1 after number 3"),
        (move_one, "3: a 2 was acknowledged, but the log has nothing"),
        (let_an_offset_come_back, "offset 1 after 1"),
        (invent_one, "b 9 was never sent"),
    ],
)
def test_what_the_log_has_wrong(change: Callable[[Logs], None], complaint: str) -> None:
    history, logs = sound()
    change(logs)
    assert any(complaint in fault for fault in history.verdict(logs))


@pytest.mark.parametrize(
    "do, complaint",
    [
        (lambda h: h.acknowledge(PLACE, 1, "a 9"), "acknowledged for b 0 and for a 9"),
        (lambda h: h.see(PLACE, 1, "a 9"), "read as b 0 and as a 9"),
        (lambda h: h.refuse("a 4", "too old"), "the producer gave up on a 4: too old"),
        (lambda h: h.seen[OTHER].pop(1), "the group has not seen every record"),
        (lambda h: h.note("a node ended"), "a node ended"),
    ],
)
def test_what_clients_were_told_wrong(
    do: Callable[[RecordHistory], object], complaint: str
) -> None:
    history, logs = sound()
    do(history)
    assert any(complaint in fault for fault in history.verdict(logs))


def test_many_of_a_kind_are_counted() -> None:
    history, logs = sound()
    history.sent["c"] = 100
    assert "... 100 in all are lost" in history.verdict(logs)
