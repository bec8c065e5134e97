"""The examples of docs/analytics.md run as they stand (those outside the part on Spark)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.offline.test_internal_topics import write

PAGE = Path(__file__).parents[2] / "docs" / "analytics.md"
BEFORE, _, REST = PAGE.read_text("utf-8").partition("\n## Spark\n")
OFFLINE = BEFORE + REST[REST.index("\n## ") :]
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", OFFLINE, re.MULTILINE | re.DOTALL)


def test_there_are_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "kafka-logs"
    write_segment(partition_directory(logs, "orders"), simple_batches(10))
    write(logs, "__consumer_offsets", [(b"\x00\x63x", None)])
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert len(names) > 1
