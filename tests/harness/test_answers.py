"""What the comparison of two transcripts accepts, and how it reports what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.answers import TOLD, check_answers, numbered

SAME: list[tuple[str, Any]] = [("Fetch v4 of nothing", 1), ("Fetch v5 of nothing", 2)]


def failure(theirs: Any, ours: Any, **known: Any) -> str:
    with pytest.raises(pytest.fail.Exception) as caught:
        check_answers(theirs, ours, **known)
    return str(caught.value)


def test_the_same_answers() -> None:
    assert check_answers(SAME, list(SAME), {"Fetch.*": "never needed"}) == set()


def test_what_is_known_to_differ() -> None:
    known = {r"Fetch v\d of nothing": "for a reason", "Fetch": "no whole label"}
    assert check_answers(SAME, [SAME[0], (SAME[1][0], 3)], known) == {r"Fetch v\d of nothing"}


def test_a_difference_is_shown_where_it_begins() -> None:
    theirs, ours = "x" * 10_000 + "a" + "y" * 10_000, "x" * 10_000 + "b"
    told = failure(numbered(["", theirs]), numbered(["", ours]))
    assert told == "\n".join(
        (
            "1 answers differ",
            "line 2",
            f"   apache ...{'x' * 80}a{'y' * 399}...",
            f"   ours   ...{'x' * 80}b",
        )
    )


def test_values_that_look_alike_are_shown_apart() -> None:
    assert failure([("x", "1")], [("x", 1)]).splitlines()[2:] == ["   apache '1'", "   ours   1"]


def test_only_the_first_of_many_differences_are_told() -> None:
    theirs = [(f"question {number}", 0) for number in range(50)]
    told = failure(theirs, [(label, 1) for label, _ in theirs]).splitlines()
    assert (told[0], told[-1]) == ("50 answers differ", f"and {50 - TOLD} more")
    assert len(told) == 2 + 3 * TOLD


def test_transcripts_of_different_questions() -> None:
    assert failure(SAME, SAME[:1]) == "2 answers of Apache, 1 of ours"
    assert failure(SAME, SAME[1:]) == (
        "question 0: 'Fetch v4 of nothing' to Apache, 'Fetch v5 of nothing' to us"
    )
