"""Streams: offsets, limits, and live logs read exactly once over restarts."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
)

from pykbroker.offline import OffsetsGone, UnknownTopic
from pykbroker.offline.layout import find_partitions
from pykbroker.spark import stream_driver
from pykbroker.spark.columns import spark_schema
from pykbroker.spark.options import parse_options
from pykbroker.spark.stream_driver import LogStreamReader
from pykbroker.testing import Broker
from pykbroker.types import TopicPartition
from tests.offline.samples import partition_directory, simple_batches, write_segment
from tests.spark.topics import create_topic

START = {"t": {"0": 0, "1": 0}}


def stream(path: object, **given: object) -> LogStreamReader:
    given = {"path": path, "subscribe": "t", **given}
    options = parse_options({name: value for name, value in given.items() if value is not None})
    options.check_stream()
    return LogStreamReader(options, spark_schema(options), tasks=2)


def offsets(reader: LogStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
    rows: list[Any] = []
    for task in reader.partitions(start, end):
        for batch in reader.read(task):
            rows += zip(
                batch.column("partition").to_pylist(),
                batch.column("offset").to_pylist(),
                strict=True,
            )
    return sorted(rows)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """t-0 with 100 records, t-1 with 300."""
    write_segment(partition_directory(tmp_path, "t", 0), simple_batches(10, 10))
    write_segment(partition_directory(tmp_path, "t", 1), simple_batches(30, 10))
    return tmp_path


def append(logs: Path, partition: int, payload: bytes) -> None:
    with max((logs / f"t-{partition}").glob("*.log")).open("ab") as log:
        log.write(payload)


def test_a_stream_starts_at_the_end_unless_it_is_told_otherwise(logs: Path) -> None:
    assert stream(logs).initialOffset() == {"t": {"0": 100, "1": 300}}
    assert stream(logs, startingOffsets="earliest").initialOffset() == START
    named = '{"t":{"0":7,"1":-1}}'
    assert stream(logs, startingOffsets=named).initialOffset() == {"t": {"0": 7, "1": 300}}


def test_what_is_appended_comes_once_it_is_whole(logs: Path) -> None:
    reader = stream(logs)
    start = reader.initialOffset()
    first, second = simple_batches(2, 10, base_offset=100)
    append(logs, 0, first + second[:50])
    latest = reader.latestOffset(start, ReadAllAvailable())
    assert latest == {"t": {"0": 110, "1": 300}}
    assert offsets(reader, start, latest) == [(0, n) for n in range(100, 110)]
    assert reader.latestOffset(latest, ReadAllAvailable()) == latest
    append(logs, 0, second[50:])
    after = reader.latestOffset(latest, ReadAllAvailable())
    assert offsets(reader, latest, after) == [(0, n) for n in range(110, 120)]
    # The same offsets give the same rows, whatever has been appended since.
    assert offsets(reader, start, latest) == [(0, n) for n in range(100, 110)]
    assert json.dumps(reader.reportLatestOffset()) == json.dumps(after)


def test_new_segments_and_new_partitions(logs: Path) -> None:
    reader = stream(logs)
    start = reader.initialOffset()
    write_segment(logs / "t-1", simple_batches(2, 10, base_offset=300))
    write_segment(partition_directory(logs, "t", 2), simple_batches(1, 10))
    latest = reader.latestOffset(start, ReadAllAvailable())
    assert latest == {"t": {"0": 100, "1": 320, "2": 10}}
    expected = [(1, n) for n in range(300, 320)] + [(2, n) for n in range(10)]
    assert offsets(reader, start, latest) == expected


def test_limits(logs: Path) -> None:
    reader = stream(logs)
    assert reader.getDefaultReadLimit() == ReadAllAvailable()
    assert stream(logs, maxOffsetsPerTrigger=9).getDefaultReadLimit() == ReadMaxRows(9)
    assert stream(logs, maxBytesPerTrigger="9k").getDefaultReadLimit() == ReadMaxBytes(9 << 10)
    assert stream(logs, minOffsetsPerTrigger=9).getDefaultReadLimit() == ReadMinRows(9)
    assert reader.latestOffset(START, ReadMaxRows(40)) == {"t": {"0": 10, "1": 30}}
    size = sum(path.stat().st_size for path in logs.rglob("*.log"))
    half = reader.latestOffset(START, ReadMaxBytes(size // 2))["t"]
    assert half["0"] in range(45, 51)
    assert half["1"] in range(140, 151)
    assert reader.latestOffset(START, ReadMaxBytes(1))["t"] == {"0": 1, "1": 1}
    assert reader.latestOffset(START, ReadMaxBytes(size)) == {"t": {"0": 100, "1": 300}}


@pytest.mark.parametrize(
    "bytes_, expected", [("1k", {"0": 4, "1": 12}), ("1m", {"0": 10, "1": 30})]
)
def test_of_two_limits_the_smaller_counts(
    logs: Path, bytes_: str, expected: dict[str, int]
) -> None:
    reader = stream(logs, maxOffsetsPerTrigger=40, maxBytesPerTrigger=bytes_)
    assert reader.latestOffset(START, reader.getDefaultReadLimit()) == {"t": expected}
    assert reader.latestOffset(START, ReadAllAvailable()) == {"t": {"0": 100, "1": 300}}


def test_few_new_offsets_wait(logs: Path) -> None:
    reader = stream(logs, minOffsetsPerTrigger=20, maxTriggerDelay="1h")
    limit = reader.getDefaultReadLimit()
    first = reader.latestOffset(START, limit)
    assert first == {"t": {"0": 100, "1": 300}}
    append(logs, 0, simple_batches(1, 19, base_offset=100)[0])
    assert reader.latestOffset(first, limit) == first
    append(logs, 0, simple_batches(1, 1, base_offset=119)[0])
    assert reader.latestOffset(first, limit) == {"t": {"0": 120, "1": 300}}
    hasty = stream(logs, minOffsetsPerTrigger=20, maxTriggerDelay="0ms")
    assert hasty.latestOffset(first, limit) == {"t": {"0": 120, "1": 300}}


def test_available_now_keeps_its_target(logs: Path) -> None:
    reader = stream(logs, maxOffsetsPerTrigger=250)
    reader.prepareForTriggerAvailableNow()
    append(logs, 0, simple_batches(1, 10, base_offset=100)[0])
    limit = reader.getDefaultReadLimit()
    first = reader.latestOffset(START, limit)
    assert first == {"t": {"0": 62, "1": 187}}
    second = reader.latestOffset(first, limit)
    assert second == {"t": {"0": 100, "1": 300}}
    assert reader.latestOffset(second, limit) == second


def test_lost_offsets(logs: Path) -> None:
    reader, lenient = stream(logs), stream(logs, failOnDataLoss="false")
    beyond = {"t": {"0": 150, "1": 300}}
    with pytest.raises(OffsetsGone, match="t-0 ended at offset 150 and now ends at 100"):
        reader.latestOffset(beyond, ReadAllAvailable())
    assert lenient.latestOffset(beyond, ReadAllAvailable()) == {"t": {"0": 100, "1": 300}}
    more = {"t": {"0": 0, "1": 0, "7": 5}}
    with pytest.raises(OffsetsGone, match="no longer there: t-7"):
        reader.latestOffset(more, ReadAllAvailable())
    (logs / "log-start-offset-checkpoint").write_text("0\n1\nt 1 20\n")
    with pytest.raises(OffsetsGone, match="start offset 0 of t-1"):
        reader.partitions(START, {"t": {"0": 100, "1": 300}})
    rows = offsets(lenient, START, {"t": {"0": 100, "1": 300}})
    assert rows == [(0, n) for n in range(100)] + [(1, n) for n in range(20, 300)]


#: Ways to name t, alone or with u (of 10 records).
NAMED = [{}, {"subscribe": None, "assign": '{"t":[0,1]}'}, {"subscribe": "t,u"}]


def begun(logs: Path, named: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The offsets of a first micro-batch of everything."""
    write_segment(partition_directory(logs, "u", 0), simple_batches(1, 10))
    reader = stream(logs, startingOffsets="earliest", **named)
    start = reader.initialOffset()
    return start, reader.latestOffset(start, ReadAllAvailable())


@pytest.mark.parametrize("named", NAMED)
def test_a_partition_that_is_gone(logs: Path, named: dict[str, Any]) -> None:
    start, end = begun(logs, named)
    reader, lenient = stream(logs, **named), stream(logs, failOnDataLoss="false", **named)
    shutil.rmtree(logs / "t-1")
    left = {**end, "t": {"0": 100}}
    count = sum(sum(each.values()) for each in left.values())
    with pytest.raises(OffsetsGone, match="no longer there: t-1"):
        reader.latestOffset(start, ReadAllAvailable())
    assert lenient.latestOffset(start, ReadAllAvailable()) == left
    # A micro-batch that was planned before it went; t-1 is known by its start, or new.
    for first in (start, {"t": {"0": 0}}, {}):
        with pytest.raises(OffsetsGone, match="no longer there: t-1"):
            reader.partitions(first, end)
        assert len(offsets(lenient, first, end)) == count


@pytest.mark.parametrize("named", NAMED)
def test_a_topic_that_is_gone(logs: Path, named: dict[str, Any]) -> None:
    start, end = begun(logs, named)
    reader, lenient = stream(logs, **named), stream(logs, failOnDataLoss="false", **named)
    for number in (0, 1):
        shutil.rmtree(logs / f"t-{number}")
    left = {topic: each for topic, each in end.items() if topic != "t"}
    with pytest.raises(OffsetsGone, match="no longer there: t-0, t-1"):
        reader.latestOffset(start, ReadAllAvailable())
    with pytest.raises(OffsetsGone, match="no longer there: t-0, t-1"):
        reader.partitions(start, end)
    assert lenient.latestOffset(start, ReadAllAvailable()) == left
    assert len(offsets(lenient, start, end)) == 10 * len(left)
    for each in (reader, lenient):  # what is lost is told by latestOffset
        assert each.reportLatestOffset() == left
        each.prepareForTriggerAvailableNow()
    assert lenient.latestOffset(start, ReadAllAvailable()) == left


def test_a_topic_that_comes_back_is_read_from_its_beginning(logs: Path) -> None:
    reader = stream(logs, failOnDataLoss="false")
    for number in (0, 1):
        shutil.rmtree(logs / f"t-{number}")
    nothing = reader.latestOffset(START, ReadAllAvailable())
    assert nothing == {}
    write_segment(partition_directory(logs, "t", 0), simple_batches(2, 10))
    again = reader.latestOffset(nothing, ReadAllAvailable())
    assert again == {"t": {"0": 20}}
    assert offsets(reader, nothing, again) == [(0, n) for n in range(20)]


def test_a_name_that_never_was_is_no_loss(logs: Path) -> None:
    reader = stream(logs, subscribe="t,misspelt")
    with pytest.raises(UnknownTopic, match="misspelt"):
        reader.initialOffset()
    with pytest.raises(UnknownTopic, match="misspelt"):
        reader.latestOffset(START, ReadAllAvailable())


def test_a_topic_that_goes_while_it_is_planned(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing still had it."""
    listings = [[TopicPartition("t", 0), TopicPartition("t", 1)]]
    end = {"t": {"0": 100, "1": 300}}
    shutil.rmtree(logs / "t-1")

    def listed(paths: Any) -> list[TopicPartition]:
        return listings.pop() if listings else find_partitions(paths)

    monkeypatch.setattr(stream_driver, "find_partitions", listed)
    rows = offsets(stream(logs, failOnDataLoss="false"), START, end)
    assert rows == [(0, n) for n in range(100)]
    assert listings == []


def test_where_narrows_a_stream(logs: Path) -> None:
    reader = stream(logs, where="partition = 1 and offset >= 290 and key <> 'key-3'")
    rows = offsets(reader, START, {"t": {"0": 100, "1": 300}})
    assert rows == [(1, n) for n in range(290, 300) if n % 7 != 3]


# -- through Spark ------------------------------------------------------------------------------


def load(spark: Any, path: object, **given: str) -> Any:
    reader = spark.readStream.format("pykbroker").option("subscribe", "t")
    return reader.option("startingOffsets", "earliest").options(**given).load(str(path))


def test_available_now_through_spark(spark: Any, logs: Path, tmp_path: Path) -> None:
    counts: dict[int, int] = {}

    def note(frame: Any, batch: int) -> None:
        counts[batch] = frame.count()

    query = (
        load(spark, logs, maxOffsetsPerTrigger="100")
        .writeStream.foreachBatch(note)
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(600)
    assert counts == {0: 100, 1: 100, 2: 100, 3: 100}
    (offset_file, *_) = sorted((tmp_path / "checkpoint" / "offsets").glob("3"))
    assert json.loads(offset_file.read_text().splitlines()[-1]) == {"t": {"0": 100, "1": 300}}


def test_a_batch_that_was_not_committed_is_given_again(
    spark: Any, logs: Path, tmp_path: Path
) -> None:
    seen: list[tuple[int, list[Any]]] = []

    def note(frame: Any, batch: int) -> None:
        rows = frame.select("partition", "offset").collect()
        seen.append((batch, sorted(map(tuple, rows))))

    def run() -> None:
        query = (
            load(spark, logs, maxOffsetsPerTrigger="150")
            .writeStream.foreachBatch(note)
            .trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start()
        )
        assert query.awaitTermination(600)

    run()
    before = dict(seen)
    assert sum(len(rows) for rows in before.values()) == 400
    last = max(before)
    for name in (f"{last}", f".{last}.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    append(logs, 0, simple_batches(1, 10, base_offset=100)[0])
    seen.clear()
    run()
    assert seen[0] == (last, before[last])
    assert seen[1] == (last + 1, [(0, n) for n in range(100, 110)])


def test_a_live_log_exactly_once_over_restarts(spark: Any, tmp_path: Path) -> None:
    """A broker runs, a producer writes, the query is stopped and started again and again."""
    total = 4000
    with Broker(log_segment_bytes=1048576) as broker:
        create_topic(broker.bootstrap_servers, "t", 2)
        resume = threading.Semaphore(1)

        def write() -> None:
            producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 2})
            for number in range(total):
                if number % 1000 == 0:
                    resume.acquire()
                producer.produce("t", b"%d" % number * 40, partition=number % 2)
                producer.poll(0)
            producer.flush(60)

        writer = threading.Thread(target=write)
        writer.start()
        for turn in range(4):
            frame = load(spark, broker.data_dir, maxOffsetsPerTrigger="700")
            query = (
                frame.select("partition", "offset", "value")
                .writeStream.format("parquet")
                .option("path", str(tmp_path / "out"))
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .start()
            )
            resume.release()  # the producer writes on while the query starts and runs
            if turn == 3:
                writer.join(300)
            query.processAllAvailable()
            query.stop()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = [(n % 2, n // 2, b"%d" % n * 40) for n in range(total)]
    assert sorted(map(tuple, rows)) == sorted(expected)


def test_a_partition_that_comes_to_it_without_its_first_records_is_a_loss(tmp_path: Path) -> None:
    write_segment(partition_directory(tmp_path, "t", 0), simple_batches(2))
    options = parse_options(
        {"path": str(tmp_path), "subscribe": "t", "startingOffsets": "earliest"}
    )
    reader = LogStreamReader(options, spark_schema(options), 1)
    start = reader.initialOffset()
    write_segment(partition_directory(tmp_path, "t", 1), simple_batches(2, base_offset=40), 40)
    with pytest.raises(OffsetsGone, match="t-1 is new and begins at offset 40"):
        reader.latestOffset(start, ReadAllAvailable())
    with pytest.raises(OffsetsGone, match="t-1 is new and begins at offset 40"):
        reader.partitions(start, {"t": {"0": 20, "1": 60}})
