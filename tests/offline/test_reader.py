"""open_log: one-line use from pandas, polars and duckdb; what can be chosen; side tables."""

from __future__ import annotations

import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars
import pyarrow as pa
import pytest

from pykbroker.offline import (
    KAFKA_COLUMNS,
    BadOption,
    CorruptSegment,
    NotALogDirectory,
    OfflineError,
    OffsetsGone,
    UnknownColumn,
    UnknownTopic,
    batches,
    fsck,
    log_ends,
    open_log,
)
from pykbroker.offline.split import Selection
from pykbroker.types import TopicPartition
from tests.offline.samples import (
    BASE_MS,
    odd_batches,
    partition_directory,
    simple_batches,
    write_segment,
)


@pytest.fixture
def logs(tmp_path: Path) -> str:
    """Topic t of two partitions (300 records in three segments; 50), an internal topic."""
    directory = partition_directory(tmp_path, "t", 0)
    for base in (0, 100, 200):
        write_segment(directory, simple_batches(10, base_offset=base, size=900), base)
    write_segment(partition_directory(tmp_path, "t", 1), simple_batches(5))
    write_segment(partition_directory(tmp_path, "__consumer_offsets", 0), simple_batches(1))
    return str(tmp_path)


def test_all_of_it(logs: str):
    table = open_log(logs).read_all()
    assert table.column_names == list(KAFKA_COLUMNS)
    assert table.num_rows == 350
    assert set(table["topic"].to_pylist()) == {"t"}
    assert table.slice(0, 1).to_pylist()[0]["key"] == b"key-0"
    assert table["offset"].to_pylist() == [*range(300), *range(50)]
    assert table["timestampType"].to_pylist() == [0] * 350


def test_pandas(logs: str):
    frame = open_log(logs, "t", columns=["partition", "offset"]).to_pandas()
    assert frame.groupby("partition").size().to_dict() == {0: 300, 1: 50}


def test_polars(logs: str):
    frame = polars.DataFrame(open_log(logs, "t", columns=["partition", "offset"]))
    assert frame["offset"].sum() == sum(range(300)) + sum(range(50))


def test_duckdb(logs: str):
    log = open_log(logs, "t")
    found = duckdb.sql("select partition, count(*) from log group by 1 order by 1")
    assert found is not None
    rows = found.fetchall()
    assert rows == [(0, 300), (1, 50)]
    del log


def test_a_stream_of_the_arrow_interface(logs: str):
    log = open_log(logs, "t")
    assert pa.RecordBatchReader.from_stream(log).read_all().equals(log.read_all())


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_offsets(logs: str, decoder: str):
    log = open_log(
        logs,
        start_offsets={"t": {0: 95, 1: -1}},
        end_offsets={"t": {0: 203}},
        columns=["offset"],
        decoder=decoder,
    )
    assert log.read_all()["offset"].to_pylist() == list(range(95, 203))


def test_one_record(logs: str):
    log = open_log(logs, "t", partitions=[0], start_offsets=207, end_offsets=208)
    (row,) = log.read_all().to_pylist()
    assert row["offset"] == 207
    (split,) = log.splits
    assert split.segment_base_offset == 200
    assert split.size_bytes < 40_000


@pytest.mark.parametrize("decoder", ["numpy", "plain"])
def test_times(logs: str, decoder: str):
    log = open_log(
        logs,
        partitions=[0],
        topics="t",
        start_timestamp_ms=BASE_MS + 150,
        end_timestamp_ms=BASE_MS + 250,
        columns=["offset"],
        decoder=decoder,
    )
    assert log.read_all()["offset"].to_pylist() == list(range(150, 250))
    assert [split.segment_base_offset for split in log.splits] == [100, 200]
    assert log.splits[0].start_position > 0


def test_headers_are_added_when_asked_for(tmp_path: Path):
    write_segment(partition_directory(tmp_path), odd_batches(2))
    log = open_log(str(tmp_path), headers=True)
    assert log.schema.names == [*KAFKA_COLUMNS, "headers"]
    assert any(log.read_all()["headers"].to_pylist())


def test_pieces_are_the_whole(logs: str):
    whole = open_log(logs, "t")
    pieces = open_log(logs, "t", split_bytes=5000)
    assert len(pieces.splits) > 20 > len(whole.splits)
    assert pieces.read_all().equals(whole.read_all())


def test_a_partitions_own_directory(logs: str):
    assert open_log(f"{logs}/t-1").read_all().num_rows == 50


def test_it_is_no_array(logs: str):
    """pandas would make a column of record batches of it."""
    with pytest.raises(TypeError, match="to_pandas"):
        pd.DataFrame(open_log(logs))


def test_a_pattern_of_topics(logs: str):
    assert open_log(logs, topic_pattern="__.*").read_all().num_rows == 10


@pytest.mark.parametrize("pattern", [r"[t\[]", r"\[|t", r"[]t]", r"[t\]][^x]*", r"t\\?"])
def test_brackets_that_are_no_sets_of_java(logs: str, pattern: str):
    assert open_log(logs, topic_pattern=pattern).partitions[0].topic == "t"


def test_refusals(logs: str, tmp_path: Path):
    with pytest.raises(
        UnknownTopic, match=r"no topic 'nope' in .*; there are __consumer_offsets, t"
    ):
        open_log(logs, "nope")
    with pytest.raises(UnknownTopic, match="no partition 7 of t"):
        open_log(logs, "t", partitions=[0, 7])
    with pytest.raises(UnknownTopic, match="no partition t-9"):
        open_log(logs, "t", start_offsets={"t": {9: 0}})
    # The first is nobody's, the others are Java's.
    for none in ("(", "[a-z&&b]", "[a-z&&[^b]]", "[[a]b]", "[a[b]]", r"\\[^[:]"):
        with pytest.raises(UnknownTopic, match="Python's syntax"):
            open_log(logs, topic_pattern=none)
    assert open_log(logs, columns="key").schema.names == ["key"]
    with pytest.raises(UnknownColumn, match="columns must be named"):
        open_log(logs, columns=[])
    with pytest.raises(UnknownColumn, match="unknown column 'keys'"):
        open_log(logs, columns=["keys"])
    with pytest.raises(BadOption, match="mode must be one of"):
        open_log(logs, mode="SOMETIMES")
    with pytest.raises(BadOption, match="isolation must be one of"):
        open_log(logs, isolation="serializable")
    with pytest.raises(NotALogDirectory, match="not a directory"):
        open_log(logs + "/meta.properties")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "photo.png").write_bytes(b"")
    with pytest.raises(NotALogDirectory, match=r"neither meta.properties .* but photo.png"):
        open_log(str(tmp_path / "elsewhere"))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"topics": []}, "topics is empty"),
        ({"partitions": []}, "partitions is empty"),
        ({"partitions": [0, 9]}, "no partition 9 of any topic"),
        ({"topics": "t", "topic_pattern": "t.*"}, "exclude each other"),
        ({"start_offsets": {"t": 3}}, "start_offsets must be"),
        ({"end_offsets": {"t": {0: "3"}}}, "end_offsets must be"),
        ({"start_offsets": "earliest"}, "start_offsets must be"),
        ({"partitions": 0}, "partitions must be"),
        ({"partitions": ["0"]}, "partitions must be"),
        ({"topics": b"t"}, "neither a name nor a path"),
        ({"start_timestamp_ms": datetime(2026, 1, 1)}, "start_timestamp_ms must be milliseconds"),
        ({"end_timestamp_ms": 1.5}, "end_timestamp_ms must be milliseconds"),
    ],
)
def test_a_choice_that_would_read_nothing_or_is_none(logs: str, asked: dict[str, Any], answer: str):
    with pytest.raises((UnknownTopic, BadOption), match=answer):
        open_log(logs, **asked)


def test_offsets_that_are_gone(logs: str):
    (Path(logs) / "log-start-offset-checkpoint").write_text("0\n1\nt 0 120\n")
    assert open_log(logs, "t", partitions=[0]).read_all()["offset"][0].as_py() == 120
    with pytest.raises(OffsetsGone, match=r"start offset 5 of t-0 .* its offsets are 120 to 300"):
        open_log(logs, "t", start_offsets={"t": {0: 5}})
    with pytest.raises(OffsetsGone, match="end offset 301 of t-0"):
        open_log(logs, "t", end_offsets={"t": {0: 301}})
    log = open_log(
        logs, "t", start_offsets={"t": {0: 5}}, end_offsets={"t": {0: 999}}, fail_on_data_loss=False
    )
    assert log.read_all().num_rows == 180 + 50


def test_high_watermark(logs: str):
    (Path(logs) / "replication-offset-checkpoint").write_text("0\n1\nt 0 205\n")
    assert open_log(logs, "t", partitions=[0]).read_all().num_rows == 300
    assert open_log(logs, "t", partitions=[0], end_bound="hw").read_all().num_rows == 205
    assert log_ends(Selection(paths=(logs,), end_bound="hw")) == {
        TopicPartition("t", 0): (0, 205),
        TopicPartition("t", 1): (0, 50),
    }


def test_the_end_is_frozen_when_the_log_is_opened(logs: str):
    log = open_log(logs, "t", partitions=[1])
    path = Path(logs) / "t-1" / f"{0:020d}.log"
    with path.open("ab") as opened:
        opened.write(simple_batches(1, base_offset=50)[0])
    assert log.read_all().num_rows == 50
    assert open_log(logs, "t", partitions=[1]).read_all().num_rows == 60


def corrupt(logs: str) -> int:
    """Break the fourth batch of the first segment; its position."""
    path = Path(logs) / "t-0" / f"{0:020d}.log"
    content = bytearray(path.read_bytes())
    size: int = 12 + struct.unpack_from(">i", content, 8)[0]
    content[3 * size + 100] ^= 1
    path.write_bytes(content)
    return 3 * size


def test_failfast_names_the_place(logs: str):
    position = corrupt(logs)
    with pytest.raises(CorruptSegment) as fault:
        open_log(logs).read_all()
    assert fault.value.position == position
    assert fault.value.path.endswith(f"t-0/{0:020d}.log")


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
def test_the_side_table_counts_what_is_left_out(logs: str, mode: str):
    position = corrupt(logs)
    log = open_log(logs, mode=mode)
    assert log.read_all().num_rows == 340
    assert log.corrupt_batches == 1
    (row,) = log.corruptions.to_pylist()
    assert row["topic"] == "t"
    assert row["position"] == position
    assert row["base_offset"] == 30
    assert row["record_count"] == 10
    assert row["reason"] == "the checksum does not match the batch"
    assert log.corrupt_bytes == row["size_bytes"] > 9000
    assert (row["raw"] is not None) == (mode == "PERMISSIVE")
    assert open_log(logs, verify_checksums=False).read_all().num_rows == 350


def test_readings_side_by_side_count_for_themselves(logs: str):
    corrupt(logs)
    log = open_log(logs, mode="PERMISSIVE", chunk_bytes=1024)
    first, second = iter(log), iter(log)
    rows = [sum(batch.num_rows for batch in pair) for pair in zip(first, second, strict=True)]
    assert sum(rows) == 2 * 340
    assert (log.corrupt_batches, log.corruptions.num_rows) == (1, 1)


def test_a_segment_that_is_deleted_or_replaced_meanwhile(logs: str):
    log = open_log(logs, "t", partitions=[0])
    lenient = open_log(logs, "t", partitions=[0], fail_on_data_loss=False)
    path = Path(logs) / "t-0" / f"{100:020d}.log"
    deleted = path.with_name(path.name + ".deleted")
    path.rename(deleted)
    assert log.read_all().num_rows == 300
    path.write_bytes(simple_batches(1, base_offset=100)[0])  # as compaction does
    assert log.read_all().num_rows == 300
    deleted.unlink()
    for scan in (log, lenient):  # what compaction left
        assert scan.read_all().num_rows == 210
    path.unlink()  # compaction left nothing
    for scan in (log, lenient):
        assert scan.read_all().num_rows == 200
    assert open_log(logs, "t", partitions=[0]).read_all().num_rows == 200


def test_paths_in_every_form(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(2))
    for paths in (tmp_path, [tmp_path], str(tmp_path), (str(tmp_path),)):
        assert open_log(paths).read_all().num_rows == 20
        assert batches(paths).num_rows == 2
        assert fsck(paths).num_rows == 0


@pytest.mark.parametrize("wrong", [None, [], 5, [7]])
def test_what_is_no_path(wrong: object):
    with pytest.raises((OfflineError, TypeError)):
        open_log(wrong)  # type: ignore[arg-type]


def test_directories_that_only_look_like_partitions(tmp_path: Path):
    """Such as /etc, where ImageMagick-6 is."""
    (tmp_path / "ImageMagick-6").mkdir()
    (tmp_path / "ImageMagick-6" / "policy.xml").write_text("")
    with pytest.raises(NotALogDirectory, match="with segments in it, but ImageMagick-6"):
        open_log(str(tmp_path))
