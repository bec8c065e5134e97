"""What a comparison of two copies comes to, in numbers and words."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.parts.replica_verdict import KINDS, summary_of, verdict_of

APART = "Equal where both are; of the partitions"


def verdict(here: tuple[int, int], there: tuple[int, int]) -> dict[str, Any]:
    """Of one partition that is equal where both copies are; a copy is (start, end)."""
    row: dict[str, Any] = dict.fromkeys(KINDS, 0)
    row |= {"start_here": here[0], "end_here": here[1]}
    row |= {"start_there": there[0], "end_there": there[1]}
    return summary_of([row], {"here": 0, "there": 0})


@pytest.mark.parametrize(
    "here, there, told",
    [
        ((0, 9), (0, 9), "The copies are equal"),
        ((0, 7), (0, 9), "This copy is a prefix of the other: 1 partition ends earlier"),
        ((0, 9), (4, 9), f"{APART} 1 begins later there"),
        ((5, 9), (0, 3), f"{APART} 1 begins later here, 1 ends earlier there"),
        # All that the one has was deleted.
        ((9, 9), (0, 9), f"{APART} 1 begins later here"),
        # The one has nothing of the time that was asked for: it lags.
        ((7, 9), (5, 5), "The other copy is a prefix of this one: 1 partition ends earlier"),
        ((5, 5), (7, 9), "This copy is a prefix of the other: 1 partition ends earlier"),
        ((5, 5), (5, 5), "The copies are equal"),
    ],
)
def test_copies_of_one_partition(here: tuple[int, int], there: tuple[int, int], told: str):
    found = verdict(here, there)
    assert verdict_of(found) == told
    assert found["is_equal"] == (told == "The copies are equal")
    assert found["is_prefix"] == ("is a prefix" in told)
