"""Prepared requests answer as the general path does, in random lives: see the harness.

A million requests: `python -m tests.harness.equal_answers --requests 1000000`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.harness.equal_answers import live

PREPARED = ("Produce", "Fetch", "Metadata", "OffsetCommit", "Heartbeat")


@pytest.mark.parametrize("seed", range(6))
def test_a_random_life_is_the_same_with_and_without_preparing(seed: int) -> None:
    assert live(seed, 60, Counter()) > 0


def test_every_prepared_api_serves_many_of_these_requests() -> None:
    served: Counter[str] = Counter()
    for seed in range(100, 140):
        live(seed, 60, served)
        if all(served[api_name] > 20 for api_name in PREPARED):
            return
    raise AssertionError(f"prepared requests served only {dict(served)}")
