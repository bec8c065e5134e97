"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from spark_jobs.parts.wording import counted


@pytest.mark.parametrize(
    "count, noun, text",
    [
        (0, "record", "0 records"),
        (1, "record", "1 record"),
        (2000, "record", "2,000 records"),
        (1, "batch", "1 batch"),
        (3, "batch", "3 batches"),
    ],
)
def test_singular_and_plural(count: int, noun: str, text: str):
    assert counted(count, noun) == text
