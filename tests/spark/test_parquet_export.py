"""Exports to Parquet: all records, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pykbroker.offline import UnknownTopic, open_log
from pykbroker.spark import OptionError, plan_tasks, to_parquet
from pykbroker.spark.parquet_export import _Export
from pykbroker.spark.target import Target
from tests.offline.samples import odd_batches, partition_directory, write_segment


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    for partition in range(3):
        write_segment(partition_directory(root, "odd", partition), odd_batches(partition, 15))
    return root


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Two partitions; one of them has a batch with a wrong checksum."""
    root = tmp_path / "damaged"
    write_segment(partition_directory(root, "odd", 0), odd_batches(0, 15))
    path = write_segment(partition_directory(root, "odd", 1), odd_batches(1, 15))
    payload = bytearray(path.read_bytes())
    payload[100] ^= 0xFF
    path.write_bytes(payload)
    return root


@pytest.fixture
def target(tmp_path: Path) -> str:
    return str(tmp_path / "out")


def test_all_records(spark: Any, logs: Path, target: str) -> None:
    columns = "key,value,partition,offset,headers"
    options = {"path": logs, "columns": columns, "minPartitions": 4}
    report = to_parquet(spark, options, target, compression="zstd")
    expected = open_log(str(logs), columns=columns.split(",")).read_all()
    order = [("partition", "ascending"), ("offset", "ascending")]
    written = pa.concat_tables(pq.read_table(Path(target) / name) for name in report.files)
    assert written.sort_by(order).equals(expected.sort_by(order))
    assert spark.read.parquet(target).count() == expected.num_rows


def test_what_is_told_is_what_is_there(spark: Any, logs: Path, target: str) -> None:
    report = to_parquet(spark, {"path": logs, "minPartitions": 4}, target)
    assert Target(target).names() == ["_SUCCESS", *report.files]
    assert len(report.files) >= 4
    assert report.rows == open_log(str(logs), columns=["offset"]).read_all().num_rows
    assert report.bytes == sum((Path(target) / name).stat().st_size for name in report.files)
    assert report.corrupt_batches == 0


def test_a_directory_that_holds_files_is_refused(spark: Any, logs: Path, target: str) -> None:
    Target(target).write("mine", b"")
    with pytest.raises(OptionError, match="already holds 1 files"):
        to_parquet(spark, {"path": logs}, target)
    assert Target(target).names() == ["mine"]


def test_files_are_replaced_if_that_is_wanted(spark: Any, logs: Path, target: str) -> None:
    first = to_parquet(spark, {"path": logs}, target)
    again = to_parquet(spark, {"path": logs, "columns": "offset"}, target, overwrite=True)
    assert not {*first.files} & {*again.files}
    assert Target(target).names() == ["_SUCCESS", *again.files]
    frame = spark.read.parquet(target)
    assert (frame.columns, frame.count(), again.rows) == (["offset"], first.rows, first.rows)


def test_what_cannot_be_planned_touches_nothing(spark: Any, logs: Path, target: str) -> None:
    to_parquet(spark, {"path": logs}, target)
    before = Target(target).names()
    with pytest.raises(UnknownTopic):
        to_parquet(spark, {"path": logs, "subscribe": "misspelt"}, target, overwrite=True)
    assert Target(target).names() == before


def test_a_failure_leaves_the_files_that_were_to_be_replaced(
    spark: Any, logs: Path, damaged: Path, target: str
) -> None:
    to_parquet(spark, {"path": logs}, target)
    before = Target(target).names()
    with pytest.raises(Exception, match="checksum"):
        to_parquet(spark, {"path": damaged}, target, overwrite=True)
    assert Target(target).names() == before


def test_a_failure_leaves_nothing_in_an_empty_directory(
    spark: Any, damaged: Path, target: str
) -> None:
    options = {"path": damaged, "minPartitions": 2}
    with pytest.raises(Exception, match="checksum"):
        to_parquet(spark, options, target)
    assert Target(target).names() == []
    report = to_parquet(spark, {**options, "mode": "DROPMALFORMED"}, target)
    assert report.corrupt_batches == 1
    assert report.rows > 0


def test_a_task_that_ends_behind_its_export_leaves_nothing(logs: Path, target: str) -> None:
    tasks = plan_tasks({"path": logs, "columns": "offset"}, split_bytes=1000)
    export = _Export(target, "feed", pa.schema([("offset", pa.int64())]), "snappy")
    directory = Target(target)
    directory.write(export.marker, b"")
    twice = [row for _ in range(2) for row in export.write((0, tasks[0]))]
    kept, other = (batch.column("name")[0].as_py() for batch in twice)
    assert directory.names() == sorted([export.marker, kept, other])
    export.end(kept=[kept])
    assert directory.names() == [kept]
    with pytest.raises(RuntimeError, match="ended before this task"):
        list(export.write((1, tasks[1])))
    assert directory.names() == [kept]


def test_no_records_are_one_empty_file(spark: Any, tmp_path: Path, target: str) -> None:
    write_segment(partition_directory(tmp_path / "logs"), odd_batches(1, 3))
    options = {"path": tmp_path / "logs", "where": "offset < 0", "columns": "key,offset"}
    report = to_parquet(spark, options, target)
    assert (report.rows, len(report.files)) == (0, 1)
    assert Target(target).names() == ["_SUCCESS", *report.files]
    frame = spark.read.parquet(target)
    assert (frame.columns, frame.count()) == (["key", "offset"], 0)
