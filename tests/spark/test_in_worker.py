"""Work inside the workers: results as pandas and pyarrow have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pykbroker.offline import ReadOptions, Split, open_log, scan_batches
from pykbroker.spark import OptionError, aggregate, map_batches, map_splits
from pykbroker.spark import in_worker as worker_module
from pykbroker.spark.in_worker import map_items
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


@pytest.mark.parametrize(
    "option", [{"Columns": "key"}, {"includeHeaders": True}, {"includeBatchMetadata": "true"}]
)
def test_aggregate_reads_the_columns_that_it_groups_by(
    spark: Any, logs: Path, option: dict[str, object]
) -> None:
    (name,) = option
    with pytest.raises(OptionError, match=f"option {name}: cannot be used with aggregate"):
        aggregate(spark, {"path": logs, **option})


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


def test_map_items_runs_a_task_an_item(spark: Any) -> None:
    def spell(item: tuple[str, int]) -> Iterator[Any]:
        text, count = item
        yield pa.RecordBatch.from_pydict({"text": [text] * count})

    frame = map_items(spark, [("a", 2), ("b", 0), ("c", 1)], spell, "text string")
    assert frame.rdd.getNumPartitions() == 3
    assert sorted(row["text"] for row in frame.collect()) == ["a", "a", "c"]
    assert map_items(spark, [], spell, "text string").collect() == []


def test_nothing_to_do_is_an_empty_frame(spark: Any, logs: Path) -> None:
    assert aggregate(spark, {"path": logs, "where": "offset < 0"}).collect() == []
