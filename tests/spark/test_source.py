"""Batches through Spark: columns, views, splits, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import KAFKA_COLUMNS, open_log
from pykbroker.protocol.compression import GZIP, NONE
from pykbroker.protocol.record_batch import build_batch
from tests.harness.old_messages import old_segment
from tests.offline.samples import (
    BASE_MS,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two topics of two partitions: one plain, one with every oddity."""
    root = tmp_path_factory.mktemp("logs")
    for partition in range(2):
        plain = partition_directory(root, "plain", partition)
        write_segment(plain, simple_batches(40, 10, size=200))
        write_segment(plain, simple_batches(40, 10, base_offset=400, size=200))
        write_segment(partition_directory(root, "odd", partition), odd_batches(partition, 12))
    return root


def load(spark: Any, path: object, **options: object) -> Any:
    given = {name: str(value) for name, value in options.items()}
    return spark.read.format("pykbroker").options(**given).load(str(path))


def test_all_columns_are_those_of_the_offline_reader(spark: Any, logs: Path) -> None:
    frame = load(spark, logs, subscribe="odd", includeHeaders="true", includeBatchMetadata="true")
    table = open_log(str(logs), "odd", columns=frame.columns).read_all()
    found = sorted(frame.collect(), key=lambda row: (row["partition"], row["offset"]))
    expected = table.drop_columns("timestamp").to_pylist()
    assert len(found) == len(expected) > 1000
    for row, other in zip(found, expected, strict=True):
        flat = row.asDict(recursive=True)
        del flat["timestamp"]
        assert flat == other


def test_logs_that_kafka_before_0_11_began(spark: Any, tmp_path: Path) -> None:
    for magic in (0, 1):
        directory = partition_directory(tmp_path, "old", magic)
        content = old_segment(magic, GZIP, 0, 20) + old_segment(magic, NONE, 20, 20)
        content += simple_batches(1, 10, base_offset=40)[0]
        (directory / f"{0:020d}.log").write_bytes(content)
    frame = load(spark, tmp_path, subscribe="old")
    rows = sorted(frame.collect(), key=lambda row: (row["partition"], row["offset"]))
    assert [row["offset"] for row in rows] == [*range(50)] * 2
    assert [row["value"] for row in rows[:40]] == [b"v%d" % n for n in range(40)]
    assert [row["timestampType"] for row in rows] == [-1] * 40 + [0] * 60
    late = frame.filter("partition = 1 and offset >= 33 and offset < 42")
    assert late.count() == 9
    assert load(spark, tmp_path, view="segments").agg({"record_count": "sum"}).first()[0] == 100


def test_a_schema_chooses_columns(spark: Any, logs: Path) -> None:
    reader = spark.read.format("pykbroker").option("subscribe", "plain")
    frame = reader.schema("offset bigint, value_size int, key binary").load(str(logs))
    assert frame.columns == ["offset", "value_size", "key"]
    assert frame.filter("offset = 5").distinct().collect() == [(5, 200, b"key-5")]
    with pytest.raises(Exception, match="option schema: value is binary, not string"):
        reader.schema("value string").load(str(logs)).count()
    with pytest.raises(Exception, match="unknown column 'nosuch'"):
        reader.schema("nosuch string").load(str(logs)).count()


def test_views(spark: Any, logs: Path) -> None:
    batches = spark.read.format("pykbroker.batches").load(str(logs))
    counts = dict(batches.groupBy("topic").sum("record_count").collect())
    assert counts["plain"] == 1600
    segments = load(spark, logs, view="segments", subscribe="plain")
    assert [tuple(row) for row in segments.select("base_offset", "next_offset").collect()] == [
        (0, 400),
        (400, 800),
    ] * 2
    assert spark.read.format("pykbroker.transactions").load(str(logs)).count() == 0


def test_many_small_splits_read_the_same(spark: Any, logs: Path) -> None:
    whole = load(spark, logs, subscribe="odd,plain").select("topic", "partition", "offset")
    cut = load(
        spark, logs, subscribe="odd,plain", splitBytes="20k", columns="topic,partition,offset"
    )
    assert cut.rdd.getNumPartitions() > 10 > whole.rdd.getNumPartitions()
    assert sorted(cut.collect()) == sorted(whole.collect())
    asked = load(spark, logs, subscribe="plain", minPartitions="6", columns="offset")
    assert asked.rdd.getNumPartitions() >= 6
    assert asked.distinct().count() == 800


def test_nothing_to_read_is_an_empty_frame(spark: Any, logs: Path) -> None:
    nothing = load(spark, logs, subscribe="plain", where="partition = 7")
    assert nothing.collect() == []
    assert nothing.columns == list(KAFKA_COLUMNS)


def _frames(shown: Exception) -> list[str]:
    """The files in the Python stack of an error as Spark shows it, but for Spark's own."""
    return [
        Path(each).name
        for each in re.findall(r'File "([^"]+)", line', str(shown))
        if "pyspark" not in each
    ]


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"subscribe": "nosuch"}, "no topic 'nosuch'"),
        ({"nosuch": "1"}, "option nosuch: is unknown"),
        ({"startingOffsets": '{"plain":{"0":801,"1":0}}'}, "start offset 801 of plain-0"),
        ({"assign": '{"plain":[7]}'}, "no partition plain-7"),
    ],
)
def test_what_is_not_there_is_named(
    spark: Any, logs: Path, options: dict[str, str], complaint: str
) -> None:
    choice = {} if "assign" in options else {"subscribe": "plain"}
    with pytest.raises(Exception, match=complaint) as caught:
        load(spark, logs, **(choice | options)).count()
    assert _frames(caught.value) == ["faults.py"]  # what it is about is not hidden below a stack


def test_a_path_that_is_no_log_directory(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("x")
    with pytest.raises(Exception, match="is not a log directory"):
        load(spark, tmp_path).count()


def test_data_loss_can_be_tolerated(spark: Any, logs: Path) -> None:
    options = {
        "subscribe": "plain",
        "endingOffsets": '{"plain":{"0":900,"1":10}}',
        "failOnDataLoss": "false",
    }
    assert load(spark, logs, **options).count() == 810
    options = {**options, "startingOffsets": '{"plain":{"0":900,"1":0}}'}
    del options["endingOffsets"]
    with pytest.raises(Exception, match="start offset 900 of plain-0 is greater than the end"):
        load(spark, logs, **options).count()


# -- corrupt batches ----------------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Partition 0 with its third and fifth batch spoilt, and a foreign magic in the seventh."""
    batches = [bytearray(each) for each in simple_batches(10, 10, size=100)]
    batches[2][-1] ^= 0xFF
    batches[4][70] ^= 0xFF
    batches[6][16] = 9
    write_segment(partition_directory(tmp_path), [bytes(each) for each in batches[:1]])
    path = next((tmp_path / "t-0").glob("*.log"))
    path.write_bytes(b"".join(batches))
    for index in (tmp_path / "t-0").glob("*index"):
        index.unlink()
    return tmp_path


def test_failfast_names_file_position_and_reason(spark: Any, damaged: Path) -> None:
    with pytest.raises(Exception, match=r"\.log, position \d+: ") as caught:
        load(spark, damaged).count()
    assert "CorruptSegment" in str(caught.value)
    assert _frames(caught.value) == ["task_reader.py"]


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_the_side_table(
    spark: Any, damaged: Path, tmp_path_factory: pytest.TempPathFactory, mode: str, kind: str
) -> None:
    sink = tmp_path_factory.mktemp("sink") / "corrupt"
    frame = load(spark, damaged, mode=mode, corruptBatchSink=sink, corruptBatchFormat=kind).select(
        "offset"
    )
    offsets = sorted(row[0] for row in frame.collect())
    assert offsets == [n for n in range(100) if n // 10 not in (2, 4, 6)]
    assert frame.count() == 70  # once more: the side table stays as it is
    (name,) = sink.iterdir()
    if kind == "json":
        rows = [json.loads(line) for line in name.read_text().splitlines()]
    else:
        rows = [row.asDict() for row in spark.read.parquet(str(sink)).collect()]
    assert sorted(row["base_offset"] for row in rows) == [20, 40, 60]
    assert {row["topic"] for row in rows} == {"t"}
    assert all((row["raw"] is not None) == (mode == "PERMISSIVE") for row in rows)


def test_fuzzed_logs_read_as_the_offline_reader_reads_them(spark: Any, tmp_path: Path) -> None:
    """Many damaged partitions at once: Spark's rows are those of the plain decoder."""
    for partition in range(24):
        directory = partition_directory(tmp_path, "f", partition)
        payload = bytearray(b"".join(simple_batches(12, 8, size=60, codec=partition % 5)))
        for turn in range(1 + partition % 4):
            payload[(partition * 7919 + turn * 4001) % len(payload)] ^= 1 << (partition % 8)
        if partition % 6 == 5:
            del payload[len(payload) * 2 // 3 :]
        (directory / f"{0:020d}.log").write_bytes(payload)
    expected = open_log(
        str(tmp_path), "f", mode="DROPMALFORMED", decoder="plain", columns=("partition", "offset")
    )
    rows = sorted(map(tuple, (tuple(row.values()) for row in expected.read_all().to_pylist())))
    assert 500 < len(rows) < 24 * 96
    frame = load(spark, tmp_path, mode="DROPMALFORMED", columns="partition,offset")
    assert sorted(map(tuple, frame.collect())) == rows


def test_a_half_written_batch_is_the_end_of_a_live_log(spark: Any, tmp_path: Path) -> None:
    path = write_segment(partition_directory(tmp_path), simple_batches(5, 10))
    with path.open("ab") as log:
        log.write(bytes(build_batch([(b"k", b"v", BASE_MS, ())], base_offset=50))[:-3])
    assert load(spark, tmp_path).count() == 50


# -- Spark's own pushdown -----------------------------------------------------------------------


def test_spark_forgets_to_plan_anew_after_pushing_filters(spark: Any, logs: Path) -> None:
    """Why `pushdown` is off by default. When this fails, Spark has mended it: turn it on."""
    frame = load(spark, logs, subscribe="plain", pushdown="true")
    assert frame.filter("partition = 0").count() == 800
    assert frame.count() == 800  # of 1600


def test_a_frame_can_be_used_again_and_again(spark: Any, logs: Path) -> None:
    frame = load(spark, logs, subscribe="plain")
    assert frame.filter("partition = 0 and offset < 10").count() == 10
    assert frame.count() == 1600
    both = frame.filter("partition = 0").union(frame.filter("partition = 1"))
    assert sorted(map(tuple, both.groupBy("partition").count().collect())) == [(0, 800), (1, 800)]


def test_sql_and_views_of_the_catalog(spark: Any, logs: Path) -> None:
    spark.sql(
        "create or replace temporary view orders using pykbroker "
        f"options (path '{logs}', subscribe 'plain')"
    )
    found = spark.sql("select partition, max(offset) from orders group by partition order by 1")
    assert [tuple(row) for row in found.collect()] == [(0, 799), (1, 799)]
