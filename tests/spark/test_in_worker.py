"""Work inside the workers: results as pandas and pyarrow have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pykbroker.offline import ReadOptions, Split, UnknownTopic, open_log, scan_batches
from pykbroker.spark import OptionError, aggregate, map_batches, map_splits, to_parquet
from pykbroker.spark import in_worker as worker_module
from pykbroker.spark.target import Target
from tests.offline.samples import odd_batches, partition_directory, write_segment


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    for partition in range(3):
        write_segment(partition_directory(root, "odd", partition), odd_batches(partition, 15))
    return root


def test_aggregate_by_key(spark: Any, logs: Path) -> None:
    counts: Counter[bytes | None] = Counter()
    sizes: Counter[bytes | None] = Counter()
    for row in open_log(str(logs), columns=("key", "value")).read_all().to_pylist():
        counts[row["key"]] += 1
        sizes[row["key"]] += len(row["key"] or b"") + len(row["value"] or b"")
    rows = aggregate(spark, {"path": logs}).collect()
    assert {row["key"]: (row["count"], row["bytes"]) for row in rows} == {
        key: (counts[key], sizes[key]) for key in counts
    }


def test_aggregate_by_other_columns_and_by_none(spark: Any, logs: Path) -> None:
    table = open_log(str(logs), columns=("partition", "codec", "value_size")).read_all()
    expected = Counter((row["partition"], row["codec"]) for row in table.to_pylist())
    rows = aggregate(spark, {"path": logs}, by=("partition", "codec")).collect()
    assert {(row["partition"], row["codec"]): row["count"] for row in rows} == expected
    (total,) = aggregate(spark, {"path": logs}, by=()).collect()
    assert total["count"] == table.num_rows
    narrowed = aggregate(spark, {"path": logs, "where": "partition = 1"}, by=("partition",))
    assert [row["partition"] for row in narrowed.collect()] == [1]
    with pytest.raises(OptionError, match="headers"):
        aggregate(spark, {"path": logs}, by=("headers",))


def test_groups_that_do_not_fit_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_ROWS_AT_ONCE", 12)
    batches = [
        pa.RecordBatch.from_pydict(
            {
                "key": pa.array([b"%d" % (n % 7 + turn * 4) for n in range(50)]),
                "key_size": pa.array([1] * 50, pa.int32()),
                "value_size": pa.array([None if n % 2 else 3 for n in range(50)], pa.int32()),
            }
        )
        for turn in range(5)
    ]
    schema = pa.schema([("key", pa.binary()), ("count", pa.int64()), ("bytes", pa.int64())])
    parts = list(worker_module._partial_groups(iter(batches), ("key",), schema))
    assert len(parts) > 1
    merged: Counter[bytes] = Counter()
    for row in pa.Table.from_batches(parts).to_pylist():
        merged[row["key"]] += row["count"]
    plain = Counter(key for batch in batches for key in batch.column("key").to_pylist())
    assert merged == plain
    assert sum(row["bytes"] for row in pa.Table.from_batches(parts).to_pylist()) == 5 * (50 + 75)


def test_to_parquet(spark: Any, logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    columns = "key,value,partition,offset,headers"
    report = to_parquet(
        spark,
        {"path": logs, "columns": columns, "minPartitions": 4},
        str(target),
        compression="zstd",
    )
    expected = open_log(str(logs), columns=columns.split(",")).read_all()
    names = sorted(path.name for path in target.iterdir())
    assert names == ["_SUCCESS", *report.files]
    assert report.rows == expected.num_rows
    assert report.bytes == sum((target / name).stat().st_size for name in report.files)
    assert report.corrupt_batches == 0
    order = [("partition", "ascending"), ("offset", "ascending")]
    written = pa.concat_tables(pq.read_table(target / name) for name in report.files)
    assert written.sort_by(order).equals(expected.sort_by(order))
    assert spark.read.parquet(str(target)).count() == expected.num_rows
    with pytest.raises(OptionError, match="holds"):
        to_parquet(spark, {"path": logs}, str(target))
    again = to_parquet(spark, {"path": logs, "columns": "offset"}, str(target), overwrite=True)
    assert spark.read.parquet(str(target)).columns == ["offset"]
    assert again.rows == report.rows
    with pytest.raises(UnknownTopic):
        to_parquet(spark, {"path": logs, "subscribe": "misspelt"}, str(target), overwrite=True)
    assert spark.read.parquet(str(target)).count() == report.rows  # nothing was deleted for it
    broken = write_segment(partition_directory(tmp_path / "broken"), odd_batches(1, 15))
    payload = bytearray(broken.read_bytes())
    payload[100] ^= 0xFF
    broken.write_bytes(payload)
    before = sorted(path.name for path in target.iterdir())
    with pytest.raises(Exception, match="checksum"):  # nor for one that fails
        to_parquet(spark, {"path": tmp_path / "broken"}, str(target), overwrite=True)
    assert sorted(path.name for path in target.iterdir()) == before


def test_to_parquet_counts_what_it_leaves_out(spark: Any, tmp_path: Path) -> None:
    path = write_segment(partition_directory(tmp_path / "logs"), odd_batches(1, 15))
    payload = bytearray(path.read_bytes())
    payload[100] ^= 0xFF
    path.write_bytes(payload)
    report = to_parquet(
        spark, {"path": tmp_path / "logs", "mode": "DROPMALFORMED"}, str(tmp_path / "out")
    )
    assert report.corrupt_batches == 1
    assert report.rows > 0


def test_map_batches_runs_any_function(spark: Any, logs: Path) -> None:
    def longest(batches: Iterator[Any]) -> Iterator[Any]:
        best = max(len(v or b"") for batch in batches for v in batch.column(0).to_pylist())
        yield pa.RecordBatch.from_pydict({"longest": pa.array([best], pa.int64())})

    options = {"path": logs, "columns": "value"}
    rows = map_batches(spark, options, longest, "longest bigint").collect()
    values = open_log(str(logs), columns=["value"]).read_all().column(0).to_pylist()
    assert max(row[0] for row in rows) == max(len(value or b"") for value in values)


def test_map_splits_sees_files(spark: Any, logs: Path) -> None:
    def count(split: Split, options: ReadOptions) -> Iterator[Any]:
        assert options.mode == "PERMISSIVE"
        total = sum(batch.num_rows for batch in scan_batches(split))
        yield pa.RecordBatch.from_pydict(
            {"path": [split.path], "batches": pa.array([total], pa.int64())}
        )

    options = {"path": logs, "mode": "PERMISSIVE"}
    rows = map_splits(spark, options, count, "path string, batches bigint").collect()
    assert {Path(row["path"]).parent.name for row in rows} == {"odd-0", "odd-1", "odd-2"}
    assert sum(row["batches"] for row in rows) == 45


def test_nothing_to_do_is_an_empty_frame(spark: Any, logs: Path) -> None:
    assert aggregate(spark, {"path": logs, "where": "offset < 0"}).collect() == []


def test_to_parquet_of_no_records_is_one_empty_file(spark: Any, tmp_path: Path) -> None:
    write_segment(partition_directory(tmp_path / "logs"), odd_batches(1, 3))
    options = {"path": tmp_path / "logs", "where": "offset < 0", "columns": "key,offset"}
    report = to_parquet(spark, options, str(tmp_path / "out"))
    assert (report.rows, len(report.files)) == (0, 1)
    assert Target(str(tmp_path / "out")).names() == ["_SUCCESS", *report.files]
    frame = spark.read.parquet(str(tmp_path / "out"))
    assert (frame.columns, frame.count()) == (["key", "offset"], 0)
