"""A short run of each kind; `python -m tests.chaos` is the long one.

The checkers are checked in test_record_history.py and test_topic_history.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos import records, topics

SECONDS = 12.0
SEED = 5


@pytest.mark.interop
@pytest.mark.timeout(1200)
def test_no_record_is_lost_or_doubled(tmp_path: Path) -> None:
    lines: list[str] = []
    faults = records.run(
        *(SECONDS, SEED, tmp_path / "nodes", lines.append), per_second=50, in_flight=1
    )
    assert faults == [], "\n".join(lines)


@pytest.mark.interop
@pytest.mark.timeout(1200)
def test_topics_are_as_they_were_acknowledged(tmp_path: Path) -> None:
    lines: list[str] = []
    faults = topics.run(SECONDS, SEED, tmp_path / "nodes", lines.append)
    assert faults == [], "\n".join(lines)
