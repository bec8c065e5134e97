"""read_cached: the rows of a plain read, whatever became of the log and of the cache meanwhile."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pykbroker.spark import OptionError, read_cached
from tests.offline.samples import odd_batches, partition_directory, simple_batches, write_segment

SEGMENTS = (0, 400, 800)


def fill(root: Path, partition: int = 0) -> Path:
    directory = partition_directory(root, "t", partition)
    for base in SEGMENTS:
        write_segment(directory, simple_batches(40, base_offset=base), index_every=1000)
    return directory


def rows_of(frame: Any) -> list[Any]:
    return sorted(frame.collect(), key=repr)


def plain(spark: Any, root: Path, **options: str) -> Any:
    return spark.read.format("pykbroker").options(**options).load(str(root))


def pieces(cache: Path) -> set[Path]:
    return set(cache.rglob("*.parquet"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    for partition in range(2):
        fill(root, partition)
    return root


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_the_rows_are_those_of_a_plain_read(spark: Any, logs: Path, cache: Path) -> None:
    cached = read_cached(spark, {"path": logs, "subscribe": "t"}, str(cache))
    assert cached.schema == plain(spark, logs).schema
    assert rows_of(cached) == rows_of(plain(spark, logs))
    assert cached.count() == 2400


def test_records_that_were_not_checked_are_apart(spark: Any, logs: Path, cache: Path) -> None:
    read_cached(spark, {"path": logs, "verifyChecksums": "false"}, str(cache)).count()
    unchecked = pieces(cache)
    read_cached(spark, {"path": logs}, str(cache)).count()
    assert unchecked
    assert len(pieces(cache)) == 2 * len(unchecked)


def test_what_is_there_is_not_made_again(spark: Any, logs: Path, cache: Path) -> None:
    first = read_cached(spark, {"path": logs}, str(cache))
    made = {each: each.stat().st_mtime_ns for each in pieces(cache)}
    assert len(made) == 2 * len(SEGMENTS)
    again = read_cached(spark, {"path": logs}, str(cache))
    assert {each: each.stat().st_mtime_ns for each in pieces(cache)} == made
    assert again.count() == first.count()


def test_what_is_new_is_added(spark: Any, logs: Path, cache: Path) -> None:
    read_cached(spark, {"path": logs}, str(cache))
    before = pieces(cache)
    directory = logs / "t-1"
    write_segment(directory, simple_batches(60, base_offset=800), index_every=1000)
    write_segment(directory, simple_batches(5, base_offset=1400))
    cached = read_cached(spark, {"path": logs}, str(cache))
    assert len(pieces(cache) - before) == 2
    assert before <= pieces(cache)
    assert rows_of(cached) == rows_of(plain(spark, logs))


def test_a_log_that_was_rewritten_is_read_anew(spark: Any, logs: Path, cache: Path) -> None:
    read_cached(spark, {"path": logs}, str(cache))
    batches = simple_batches(40, base_offset=400)
    write_segment(logs / "t-0", [batches[0], *batches[20:]])  # compacted
    (logs / "t-1" / f"{0:020d}.log").unlink()  # past its retention
    cached = read_cached(spark, {"path": logs}, str(cache))
    expected = rows_of(plain(spark, logs))
    assert rows_of(cached) == expected
    assert len(expected) == 2400 - 190 - 400


@pytest.mark.parametrize("columns", ["key,value,headers", "offset,partition,producer_id,codec"])
def test_every_shape_has_a_cache_of_its_own(
    spark: Any, tmp_path: Path, cache: Path, columns: str
) -> None:
    root = tmp_path / "odd"
    for partition in range(2):
        write_segment(partition_directory(root, "odd", partition), odd_batches(partition, 15))
    read_cached(spark, {"path": root}, str(cache))
    cached = read_cached(spark, {"path": root, "columns": columns}, str(cache))
    assert rows_of(cached) == rows_of(plain(spark, root, columns=columns))
    assert len(list(cache.iterdir())) == 2


def test_no_records_are_a_frame_without_rows(spark: Any, tmp_path: Path, cache: Path) -> None:
    directory = partition_directory(tmp_path / "empty")
    (directory / f"{0:020d}.log").touch()
    cached = read_cached(spark, {"path": tmp_path / "empty"}, str(cache))
    assert (cached.count(), cached.columns[:2]) == (0, ["key", "value"])


def test_two_jobs_fill_one_cache(spark: Any, logs: Path, cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        ask = partial(read_cached, spark, {"path": logs}, str(cache))
        frames = [job.result() for job in [pool.submit(ask) for _ in range(2)]]
    assert [frame.count() for frame in frames] == [2400, 2400]
    assert len(pieces(cache)) == 2 * len(SEGMENTS)


def test_files_that_are_half_there_are_not_read(spark: Any, logs: Path, cache: Path) -> None:
    read_cached(spark, {"path": logs}, str(cache))
    victim = next(cache.rglob("*.parquet"))
    passing = victim.with_name(f".{victim.name}.0.passing")
    victim.rename(passing)  # as a worker that was killed leaves it
    passing.write_bytes(passing.read_bytes()[:100])
    cached = read_cached(spark, {"path": logs}, str(cache))
    assert victim.exists()
    assert rows_of(cached) == rows_of(plain(spark, logs))


def test_what_nobody_needs_goes_after_a_day(spark: Any, logs: Path, cache: Path) -> None:
    read_cached(spark, {"path": logs}, str(cache))
    old, young = sorted(each for each in cache.rglob("*.parquet") if each.parent.name == "t-0")[:2]
    for path in (old, young):
        (logs / "t-0" / f"{path.name[:20]}.log").unlink()
    os.utime(old, (time.time() - 100_000,) * 2)
    cached = read_cached(spark, {"path": logs}, str(cache))
    assert (old.exists(), young.exists()) == (False, True)
    assert rows_of(cached) == rows_of(plain(spark, logs))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("startingOffsets", "earliest"),
        ("endingOffsets", "latest"),
        ("startingTimestamp", "1"),
        ("where", "offset > 3"),
        ("view", "batches"),
        ("mode", "PERMISSIVE"),
    ],
)
def test_options_that_mean_nothing_with_a_cache(
    logs: Path, cache: Path, option: str, value: str
) -> None:
    with pytest.raises(OptionError, match=option):
        read_cached(None, {"path": logs, option: value}, str(cache))
    assert not cache.exists()
