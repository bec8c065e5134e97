"""Planning of reads: what is skipped before a byte is read, and how the rest is split."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import OffsetsGone, UnknownTopic, plan
from pykbroker.spark import plan_tasks
from pykbroker.spark import tasks as tasks_module
from pykbroker.spark.options import parse_options
from pykbroker.spark.task_reader import read_task
from pykbroker.spark.tasks import current_ends, offset_at
from pykbroker.types import TopicPartition
from tests.offline.samples import BASE_MS, partition_directory


def offsets(tasks: list[Any]) -> list[tuple[str, int, int]]:
    rows = []
    for task in tasks:
        for batch in read_task(task):
            columns = [batch.column(name).to_pylist() for name in ("topic", "partition", "offset")]
            rows += list(zip(*columns, strict=True))
    return rows


def test_small_topics_are_one_task(small_logs: Path) -> None:
    tasks = plan_tasks({"path": small_logs})
    assert len(tasks) == 1
    assert len(offsets(tasks)) == 2800
    assert pickle.loads(pickle.dumps(tasks)) == tasks


def test_tasks_are_cut_by_size_and_number(small_logs: Path) -> None:
    small = plan_tasks({"path": small_logs, "splitBytes": "30k"})
    assert len(small) >= 18
    assert all(task.size_bytes < 46 << 10 for task in small)
    asked = plan_tasks({"path": small_logs, "subscribe": "u", "minPartitions": 5})
    assert len(asked) >= 5
    assert sorted(offsets(asked)) == [("u", 0, n) for n in range(400)]
    by_records = plan_tasks({"path": small_logs, "subscribe": "u", "maxRecordsPerPartition": 100})
    assert len(by_records) >= 4


def test_neighbours_are_read_as_one(small_logs: Path) -> None:
    (task,) = plan_tasks({"path": small_logs, "subscribe": "u"}, split_bytes=1 << 20)
    (split,) = task.splits
    assert split.size_bytes == (small_logs / "u-0" / f"{0:020d}.log").stat().st_size


@pytest.mark.parametrize(
    "where, files, most_bytes",
    [
        ("topic = 'u'", {"u-0"}, 110_000),
        ("partition = 1", {"t-1"}, 330_000),
        ("topic = 't' and offset = 900 and partition = 0", {"t-0"}, 8_000),
        ("topic = 't' and offset in (410, 415)", {"t-0", "t-1"}, 16_000),
        ("topic = 't' and timestamp >= '2023-11-14T22:13:21.150Z'", {"t-0", "t-1"}, 40_000),
        ("topic = 'v'", set(), 0),
        ("offset > 5000", set(), 0),
    ],
)
def test_conditions_leave_out_files_and_bytes(
    small_logs: Path, where: str, files: set[str], most_bytes: int
) -> None:
    tasks = plan_tasks({"path": small_logs, "where": where})
    splits = [split for task in tasks for split in task.splits]
    assert {Path(split.path).parent.name for split in splits} == files
    assert sum(split.size_bytes for split in splits) <= most_bytes


def test_assigned_pairs_are_no_product(small_logs: Path) -> None:
    tasks = plan_tasks({"path": small_logs, "assign": '{"t":[1],"u":[0]}'})
    assert {row[:2] for row in offsets(tasks)} == {("t", 1), ("u", 0)}


def test_a_pair_that_is_not_there(small_logs: Path) -> None:
    with pytest.raises(UnknownTopic, match="no partition u-1 in"):
        plan_tasks({"path": small_logs, "assign": '{"t":[1],"u":[1]}'})


def test_partitions_are_planned_together(small_logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every planning lists all log directories."""
    listings: list[int] = []
    planned = plan

    def counted(*given: Any) -> Any:
        listings.append(1)
        return planned(*given)

    monkeypatch.setattr(tasks_module, "plan", counted)
    found = plan_tasks({"path": small_logs, "startingOffsets": '{"t":{"0":1,"1":-2},"u":{"0":3}}'})
    assert (len(offsets(found)), listings) == (2800 - 4, [1])


def test_views_of_whole_logs_ask_for_no_offsets(small_logs: Path) -> None:
    for path in (small_logs / "u-0").glob("*.log"):
        damaged = bytearray(path.read_bytes())
        damaged[61 + 30] ^= 1
        path.write_bytes(damaged)
    given = {"path": small_logs, "subscribe": "u", "view": "transactions"}
    for more in ({"startingOffsets": '{"u":{"0":9999}}'}, {"startingTimestamp": BASE_MS}):
        assert len(plan_tasks({**given, **more})) == 1


def test_a_time_becomes_the_first_offset_at_or_after_it(small_logs: Path) -> None:
    options = parse_options({"path": small_logs})
    t0 = TopicPartition("t", 0)
    assert offset_at(options, t0, 0) == 0
    assert offset_at(options, t0, BASE_MS + 555) == 555
    assert offset_at(options, t0, BASE_MS + 1199) == 1199
    assert offset_at(options, t0, BASE_MS + 1200) is None


def test_ends_and_offsets_that_are_gone(small_logs: Path) -> None:
    (small_logs / "log-start-offset-checkpoint").write_text("0\n1\nt 0 300\n")
    ends = current_ends(parse_options({"path": small_logs, "subscribe": "t"}))
    assert ends == {TopicPartition("t", 0): (300, 1200), TopicPartition("t", 1): (0, 1200)}
    given = {"path": small_logs, "subscribe": "t", "startingOffsets": '{"t":{"0":299,"1":0}}'}
    with pytest.raises(OffsetsGone, match="start offset 299 of t-0"):
        plan_tasks(given)
    tasks = plan_tasks({**given, "failOnDataLoss": "false"})
    assert min(row[2] for row in offsets(tasks) if row[1] == 0) == 300


def test_an_empty_log_has_a_segment(small_logs: Path) -> None:
    (partition_directory(small_logs, "v") / f"{0:020d}.log").write_bytes(b"")
    tasks = plan_tasks({"path": small_logs, "view": "segments"})
    rows = [row for task in tasks for batch in read_task(task) for row in batch.to_pylist()]
    assert sorted((row["topic"], row["size_bytes"] > 0) for row in rows) == (
        [("t", True)] * 6 + [("u", True), ("v", False)]
    )
