"""Which partitions are meant, and files that come and go while they are looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pykbroker.offline import (
    OffsetsGone,
    Selection,
    UnknownTopic,
    log_ends,
    open_log,
    plan,
    planning,
    selecting,
)
from pykbroker.offline.frozen_end import freeze
from pykbroker.offline.layout import find_partitions
from pykbroker.types import TopicPartition
from tests.offline.samples import (
    partition_directory,
    simple_batches,
    write_segment,
)


def test_files_that_compaction_takes_while_planning_are_listed_again(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    real = freeze
    calls: list[object] = []

    def gone_at_first(files: object) -> object:
        calls.append(files)
        if len(calls) < 3:
            raise FileNotFoundError("0.log.deleted")
        return real(files)  # type: ignore[arg-type]

    monkeypatch.setattr(planning, "freeze", gone_at_first)
    assert len(plan(Selection((str(log),))).partitions) == 1
    assert len(calls) == 3


def test_ends_are_listed_again_and_what_never_stands_still_is_told(
    log: Path, monkeypatch: pytest.MonkeyPatch
):
    chosen = Selection((str(log),))
    expected = planning.log_ends(chosen)
    real = freeze
    calls: list[object] = []

    def gone_at_first(files: object) -> object:
        calls.append(files)
        if len(calls) < 3:
            raise FileNotFoundError("0.log.deleted")
        return real(files)  # type: ignore[arg-type]

    def gone(files: object) -> object:
        raise FileNotFoundError("0.log.deleted")

    monkeypatch.setattr(planning, "freeze", gone_at_first)
    assert planning.log_ends(chosen) == expected
    monkeypatch.setattr(planning, "freeze", gone)
    with pytest.raises(OffsetsGone, match="faster than they can be listed"):
        plan(chosen)


def test_topics_of_people_may_begin_as_those_of_kafka(tmp_path: Path):
    for topic in ("__debezium-heartbeat.pg", "__consumer_offsets", "orders"):
        write_segment(partition_directory(tmp_path, topic), simple_batches(1))
    names = {each.topic for each in open_log(str(tmp_path)).partitions}
    assert names == {"__debezium-heartbeat.pg", "orders"}


def test_partitions_one_by_one(tmp_path: Path):
    for topic, partition in (("a", 0), ("a", 1), ("b", 0), ("__consumer_offsets", 3)):
        write_segment(partition_directory(tmp_path, topic, partition), simple_batches(1))
    paths = (str(tmp_path),)
    only = frozenset({TopicPartition("a", 1), TopicPartition("__consumer_offsets", 3)})
    assert log_ends(Selection(paths, only=only)) == dict.fromkeys(only, (0, 10))
    assert len(plan(Selection(paths, only=only)).splits) == 2
    for wrong in ({"only": only | {TopicPartition("b", 1)}}, {"start_offsets": {"b": {1: 0}}}):
        with pytest.raises(UnknownTopic, match="no partition b-1 in"):
            plan(Selection(paths, **wrong))


def test_a_partition_that_is_deleted_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As if it had been deleted a moment before: a name that is nowhere, or nothing to read."""
    for topic in ("a", "b"):
        write_segment(partition_directory(tmp_path, topic), simple_batches(1))
    found = find_partitions

    def deleted_behind(paths: object) -> object:
        there = found(paths)  # type: ignore[arg-type]
        shutil.rmtree(tmp_path / "b-0", ignore_errors=True)
        return there

    monkeypatch.setattr(selecting, "find_partitions", deleted_behind)
    paths = (str(tmp_path),)
    named = (
        Selection(paths, topics=("b",)),
        Selection(paths, only=frozenset({TopicPartition("b", 0)})),
    )
    for selection in named:
        write_segment(partition_directory(tmp_path, "b"), simple_batches(1))
        with pytest.raises(UnknownTopic, match="b-0 was deleted while it was being read"):
            plan(selection)
    for all_topics in (Selection(paths), Selection(paths, topic_pattern=".*")):
        write_segment(partition_directory(tmp_path, "b"), simple_batches(1))
        assert [each.topic for each in plan(all_topics).partitions] == ["a"]
