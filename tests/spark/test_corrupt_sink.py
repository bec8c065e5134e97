"""The side table of a task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pykbroker.offline import left_out
from pykbroker.spark import plan_tasks
from pykbroker.spark.task_reader import read_task
from tests.offline.samples import partition_directory, simple_batches, write_segment

BATCHES = 12


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A partition in which the first batches have wrong checksums."""
    batches = [bytearray(each) for each in simple_batches(BATCHES)]
    for batch in batches[:-1]:
        batch[-1] ^= 1
    write_segment(partition_directory(tmp_path / "logs"), list(map(bytes, batches)))
    return tmp_path / "logs"


def sunk(logs: Path, **given: object) -> dict[str, Path]:
    """The files that reading writes, by their names without those of the task."""
    sink = logs.parent / "sink"
    options: dict[str, Any] = {"path": logs, "mode": "PERMISSIVE", "corruptBatchSink": sink}
    (task,) = plan_tasks(options | given)
    assert sum(batch.num_rows for batch in read_task(task)) == 10
    found = {path.name.partition("-")[0]: path for path in sink.iterdir()}
    assert len({path.stem.partition("-")[2] for path in found.values()}) == 1
    return found


def test_a_row_a_batch(logs: Path) -> None:
    found = sunk(logs)
    assert list(found) == ["corrupt"]
    rows = [json.loads(line) for line in found["corrupt"].read_text().splitlines()]
    assert len({row["position"] for row in rows}) == len(rows) == BATCHES - 1
    assert all(row["raw"] for row in rows)


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_what_has_no_row_is_counted(logs: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(left_out, "MAX_CORRUPTIONS", 4)
    found = sunk(logs, corruptBatchFormat=kind)
    assert sorted(found) == ["corrupt", "counts"]
    assert found["counts"].suffix == ".json"
    if kind == "json":
        lines = found["corrupt"].read_text().splitlines()
        sizes = [json.loads(line)["size_bytes"] for line in lines]
    else:
        sizes = pq.read_table(found["corrupt"]).column("size_bytes").to_pylist()
    counts = json.loads(found["counts"].read_text())
    assert counts["rows"] == len(sizes) == 4
    assert counts["row_bytes"] == sum(sizes)
    assert counts["batches"] == BATCHES - 1
    assert counts["bytes"] == sum(map(len, simple_batches(BATCHES)[:-1]))
