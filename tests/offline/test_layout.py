"""What a log directory holds, and what in it is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.offline.faults import NotALogDirectory, OfflineError
from pykbroker.offline.layout import find_partitions, parse_partition, read_partitions
from pykbroker.types import TopicPartition
from tests.offline.samples import partition_directory, simple_batches, write_segment


@pytest.mark.parametrize(
    "name,partition",
    [
        ("a-0", TopicPartition("a", 0)),
        ("a-b.c_d-12", TopicPartition("a-b.c_d", 12)),
        ("__consumer_offsets-49", TopicPartition("__consumer_offsets", 49)),
        ("a-01", None),
        ("a-", None),
        ("a.0123456789abcdef0123456789abcdef-delete", None),
        ("a-0.0123456789abcdef0123456789abcdef-future", None),
        ("a-0.0123456789abcdef0123456789abcdef-stray", None),
        ("a b-0", None),
        ("-0", None),
        ("b-2147483647", TopicPartition("b", 2147483647)),
        ("b-9999999999", None),
    ],
)
def test_names_of_directories(name: str, partition: TopicPartition | None):
    assert parse_partition(name) == partition


def test_the_replica_that_reaches_furthest(tmp_path: Path):
    for name, batches in (("a", 2), ("b", 5), ("c", 3)):
        write_segment(partition_directory(tmp_path / name), simple_batches(batches))
    paths = [str(tmp_path / name) for name in "abc"]
    assert find_partitions(paths) == [TopicPartition("t", 0)]
    (files,) = read_partitions(paths)
    assert files.directory == str(tmp_path / "b" / "t-0")


def test_where_segments_begin_says_nothing_of_how_far_they_reach(tmp_path: Path):
    """One replica rolled early and was left behind."""
    batches = simple_batches(20, 1)
    behind = partition_directory(tmp_path / "behind")
    write_segment(behind, batches[:10])
    write_segment(behind, batches[10:11])
    write_segment(partition_directory(tmp_path / "ahead"), batches)
    roots = [str(tmp_path / "behind"), str(tmp_path / "ahead")]
    for paths in (roots, roots[::-1]):
        (files,) = read_partitions(paths)
        assert files.directory == str(tmp_path / "ahead" / "t-0")


def test_checkpoints(tmp_path: Path):
    write_segment(partition_directory(tmp_path), simple_batches(2, base_offset=100), 100)
    (files,) = read_partitions([str(tmp_path)])
    assert (files.log_start_offset, files.high_watermark) == (100, None)
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\nt 0 105\n")
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\nt 0 115\n")
    (files,) = read_partitions([str(tmp_path)])
    assert (files.log_start_offset, files.high_watermark) == (105, 115)
    (single,) = read_partitions([str(tmp_path / "t-0")])
    assert single == files
    (tmp_path / "replication-offset-checkpoint").write_text("0\nmany\n")
    with pytest.raises(OfflineError, match=r"replication-offset-checkpoint, line 2"):
        read_partitions([str(tmp_path)])


@pytest.mark.parametrize("path", ["t-0", "t-0/", "./t-0", "../logs/t-0"])
def test_a_partition_by_a_relative_path(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    logs = tmp_path / "logs"
    write_segment(partition_directory(logs), simple_batches(3))
    (logs / "log-start-offset-checkpoint").write_text("0\n1\nt 0 4\n")
    monkeypatch.chdir(logs)
    (found,) = read_partitions([path])
    assert (len(found.segments), found.log_start_offset) == (1, 4)


def test_an_empty_log_directory_is_one(tmp_path: Path):
    (tmp_path / "meta.properties").write_text("version=1\n")
    assert read_partitions([str(tmp_path)]) == []
    with pytest.raises(NotALogDirectory, match="is not a directory"):
        read_partitions([str(tmp_path / "nowhere")])
