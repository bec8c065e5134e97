"""Tasks read by a worker: conditions, columns, files that go meanwhile."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pykbroker.offline import OffsetsGone
from pykbroker.protocol.record_batch import build_batch
from pykbroker.spark import plan_tasks
from pykbroker.spark.task_reader import conform, read_task
from tests.offline.samples import BASE_MS, partition_directory, write_segment
from tests.spark.test_tasks import offsets


def test_conditions_on_columns_that_are_not_read(small_logs: Path) -> None:
    tasks = plan_tasks(
        {"path": small_logs, "subscribe": "u", "columns": "offset", "where": "key = 'key-3'"}
    )
    batches = [batch for task in tasks for batch in read_task(task)]
    assert {tuple(batch.schema.names) for batch in batches} == {("offset",)}
    found = [offset for batch in batches for offset in batch.column(0).to_pylist()]
    assert found == [n for n in range(400) if n % 7 == 3]


def test_a_file_that_goes_while_it_is_read(small_logs: Path) -> None:
    options = {"path": small_logs, "subscribe": "u", "columns": "topic,partition,offset"}
    lossy = plan_tasks({**options, "failOnDataLoss": "false"})
    strict = plan_tasks(options)
    (small_logs / "u-0" / f"{0:020d}.log").unlink()
    assert offsets(lossy) == []
    with pytest.raises(OffsetsGone, match="is gone"):
        offsets(strict)


@pytest.mark.parametrize(
    "where", ["timestamp is not null", "timestamp >= '2000-01-01'", "timestamp < '2200-01-01'"]
)
def test_a_time_that_is_null_compares_with_nothing(tmp_path: Path, where: str) -> None:
    rows = [(None, b"a", BASE_MS, ()), (None, b"b", 2**62, ()), (None, b"c", -(2**62), ())]
    write_segment(partition_directory(tmp_path, "far"), [bytes(build_batch(rows))])
    assert offsets(plan_tasks({"path": tmp_path})) == [("far", 0, n) for n in range(3)]
    assert offsets(plan_tasks({"path": tmp_path, "where": where})) == [("far", 0, 0)]


@pytest.mark.parametrize(
    "where, expected",
    [
        ("timestamp is null", [1, 2]),
        ("timestamp in ('2023-11-14T22:13:20Z', '2023-11-14T22:13:20.007Z')", [0, 5]),
        ("timestamp in ('2023-11-14T22:13:20.0005Z')", []),
        ("timestamp not in ('2023-11-14T22:13:20Z')", [3, 4, 5]),
        ("timestamp <> '2023-11-14T22:13:20.005Z'", [0, 4, 5]),
        ("timestamp <> '2023-11-14T22:13:20.0055Z'", [0, 3, 4, 5]),
        ("timestamp <> '2023-11-14T22:13:20Z' and timestamp < '2023-11-14T22:13:20.007Z'", [3, 4]),
        ("timestamp is null and timestamp is not null", []),
    ],
)
def test_times_that_are_no_range(tmp_path: Path, where: str, expected: list[int]) -> None:
    times = (BASE_MS, 2**62, -(2**62), BASE_MS + 5, BASE_MS + 6, BASE_MS + 7)
    rows = [(None, b"", at, ()) for at in times]
    write_segment(partition_directory(tmp_path, "far"), [bytes(build_batch(rows))])
    tasks = plan_tasks({"path": tmp_path, "where": where})
    assert [row[2] for row in offsets(tasks)] == expected
    without = plan_tasks({"path": tmp_path, "where": where, "columns": "offset"})
    batches = [batch for task in without for batch in read_task(task)]
    assert [offset for each in batches for offset in each.column(0).to_pylist()] == expected


def test_columns_are_chosen_and_ordered_as_spark_wants_them():
    batch = pa.RecordBatch.from_pydict({"a": [1, 2], "b": ["x", "y"], "c": [True, False]})
    wanted = pa.schema([("c", pa.bool_()), ("a", pa.int64())])
    (made,) = conform(iter([batch]), wanted)
    assert made.schema == wanted
    assert made.to_pydict() == {"c": [True, False], "a": [1, 2]}
    (same,) = conform(iter([batch]), batch.schema)
    assert same is batch
