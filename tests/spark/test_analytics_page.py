"""The examples on Spark in docs/analytics.md run as they stand, and all options are named there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pykbroker.spark.option_names import CANONICAL
from tests.offline.samples import partition_directory, simple_batches, write_segment

PAGE = Path(__file__).parents[2] / "docs" / "analytics.md"
SPARK = PAGE.read_text("utf-8").partition("\n## Spark\n")[2].partition("\n## ")[0]
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", SPARK, re.MULTILINE | re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


def test_every_option_is_documented() -> None:
    table = SPARK.partition("\n### Reading less")[0]
    named = set(re.findall(r"`([A-Za-z.]+)`", table)) | {"paths", "pushdown"}
    assert set(CANONICAL.values()) <= named


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example(spark: Any, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "kafka-logs"
    write_segment(partition_directory(logs, "orders"), simple_batches(10))
    # The JVM and its workers stay in the directory where they were started.
    for name in ("kafka-logs", "out/orders", "out/checkpoint", "out/parquet", "out/cache"):
        example = example.replace(f'"{name}"', f'"{tmp_path / name}"')
    names: dict[str, Any] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert names["spark"] is spark
