"""The metadata log on disk: batches, snapshots, what is cleaned."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.decision import MetadataRecord
from pykbroker.kraft.metadata_log import MetadataLog
from pykbroker.kraft.metadata_log_check import CorruptMetadataLog
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.kraft.metadata_snapshot import CorruptSnapshot, SnapshotId, encode_snapshot
from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.protocol.control_records import build_control_batch
from pykbroker.protocol.messages.kraft_version_record import KRaftVersionRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.memory_files import MemoryFiles

DIRECTORY = "/disk/__cluster_metadata-0"


class Disk:
    def __init__(self, **overrides: str) -> None:
        self.files = MemoryFiles()
        properties = standalone_properties("/disk")
        properties |= {key.replace("_", "."): value for key, value in overrides.items()}
        self.config = BrokerConfig.from_properties(properties)
        self.open()

    def open(self, *, is_clean: bool = False) -> None:
        self.log = MetadataLog(self.files, DIRECTORY, self.config, 1000, is_clean=is_clean)

    def append(self, *names: str, epoch: int = 1) -> None:
        values = [
            (None, encode_metadata_record(MetadataRecord(topic(name))), 1000, ()) for name in names
        ]
        offset = self.log.log.next_offset
        self.log.append(build_batch(values, base_offset=offset, leader_epoch=epoch), 1000)

    def snapshot(self, offset: int, epoch: int = 1) -> None:
        at = SnapshotId(offset, epoch)
        batches = encode_snapshot(
            at, [], kraft_version=1, voters=None, last_contained_log_timestamp_ms=0, now_ms=0
        )
        self.log.write_snapshot(at, batches)
        self.log.snapshot_written(at)

    def names(self, start: int = 0) -> list[str]:
        return [
            record.message.name
            for batch in self.log.batches(start, self.log.end.offset)
            for record in batch.records
        ]


def topic(name: str) -> TopicRecord:
    return TopicRecord(name=name, topic_id=name.encode().ljust(16, b"-"))


@pytest.mark.parametrize("is_clean", [True, False])
def test_what_is_appended_is_read_again(is_clean: bool) -> None:
    disk = Disk()
    disk.append("a", "b")
    disk.append("c", epoch=2)
    assert disk.log.end == LogEnd(2, 3)
    disk.log.close()
    disk.open(is_clean=is_clean)
    assert disk.names() == ["a", "b", "c"]
    assert disk.names(2) == ["c"]
    assert disk.log.end == LogEnd(2, 3)


def test_offsets_are_found_after_a_power_failure_though_indexes_were_not_synced() -> None:
    for seed in range(5):
        disk = Disk()
        disk.files.sync_dir("/")
        for number in range(300):  # enough for several index entries
            disk.append(f"topic-{number}-{'x' * 100}")
        disk.snapshot(300)
        job = disk.log.prepare_flush()
        assert job is not None
        assert disk.log.log.active.offset_index.index.entry_count > 5
        job.run()
        disk.log.log.complete_flush(job)
        disk.files.crash(random.Random(seed), reorder=True)
        disk.open()
        assert disk.log.log.active.offset_index.index.entry_count > 5
        for offset in range(0, 300, 17):
            assert disk.names(offset)[0].startswith(f"topic-{offset}-")


def test_control_records_come_apart() -> None:
    disk = Disk()
    message: Any = KRaftVersionRecord(kraft_version=1)
    disk.log.append(
        build_control_batch([message], timestamp_ms=5, base_offset=0, leader_epoch=1), 1000
    )
    (batch,) = disk.log.batches(0, 1)
    assert batch.records == []
    assert batch.control == [(0, message)]


def test_an_unknown_record_is_told_in_one_line() -> None:
    disk = Disk()
    unknown = b"\1" + bytes((0xE7, 7)) + b"\0"  # frame version, type 999, version
    batch = build_batch([(None, unknown, 1000, ())], base_offset=0, leader_epoch=1)
    disk.log.append(batch, 1000)
    with pytest.raises(CorruptMetadataLog, match=f"^{DIRECTORY}: no metadata record .* type 999$"):
        disk.names()
    disk.log.write_snapshot(SnapshotId(1, 1), iter([batch]))
    with pytest.raises(CorruptSnapshot, match=r"^0*1-0*1.checkpoint: no metadata record .* 999$"):
        disk.log.read_snapshot(SnapshotId(1, 1))


def test_a_batch_that_does_not_follow_is_our_bug() -> None:
    disk = Disk()
    disk.append("a")
    with pytest.raises((RuntimeError, Exception)):
        disk.log.append(build_batch([(None, b"x", 0, ())], base_offset=0, leader_epoch=1), 1000)


def test_the_election_is_remembered() -> None:
    disk = Disk()
    assert disk.log.read_election() is None
    disk.log.write_election(ElectionState(3, 1), 1, [1])
    assert disk.log.read_election() == ElectionState(3, 1)


def test_the_election_outlives_a_power_failure() -> None:
    for seed in range(5):
        disk = Disk()
        for directory in ("/", "/disk"):  # as formatting does
            disk.files.sync_dir(directory)
        disk.log.write_election(ElectionState(3, 1), 1, [1])
        disk.files.crash(random.Random(seed), reorder=True)
        disk.open()
        assert disk.log.read_election() == ElectionState(3, 1)


def test_an_unfinished_snapshot_is_removed() -> None:
    disk = Disk()
    partial = f"{DIRECTORY}/{SnapshotId(9, 1).file_name}.part"
    disk.files.write_file(partial, b"half")
    disk.open()
    assert not disk.files.exists(partial)
    assert disk.log.snapshots == []


def test_a_log_that_ends_before_the_newest_snapshot_begins_there() -> None:
    disk = Disk()
    disk.append("a")
    disk.snapshot(10, epoch=4)
    disk.log.close()
    disk.open()
    assert disk.log.end == LogEnd(4, 10)
    assert disk.log.read_snapshot(SnapshotId(10, 4)).kraft_version == 1


def test_records_of_epochs_before_the_newest_snapshot_do_not_follow_it() -> None:
    """The node stopped after it had fetched the snapshot, before it had dropped its log."""
    disk = Disk()
    disk.append("a", "b", "c", "lost", epoch=3)
    disk.snapshot(2, epoch=5)
    disk.log.close()
    disk.open(is_clean=True)
    assert disk.log.end == LogEnd(5, 2)
    assert disk.names(2) == []


def test_records_of_the_epoch_of_the_newest_snapshot_follow_it() -> None:
    disk = Disk()
    disk.append("a", "b", epoch=5)
    disk.snapshot(2, epoch=5)
    disk.append("c", epoch=5)
    disk.log.close()
    disk.open(is_clean=True)
    assert disk.log.end == LogEnd(5, 3)
    assert disk.names(2) == ["c"]


def test_the_newest_snapshot_is_never_cleaned() -> None:
    disk = Disk(metadata_max_retention_bytes="1")
    disk.append("a", "b", "c")
    disk.snapshot(1)
    disk.snapshot(2)
    disk.snapshot(3)
    assert disk.log.clean(1000, high_watermark=2)
    assert disk.log.snapshots == [SnapshotId(2, 1), SnapshotId(3, 1)]
    assert disk.log.clean(1000, high_watermark=3)
    assert disk.log.snapshots == [SnapshotId(3, 1)]
    assert not disk.log.clean(1000, high_watermark=3)
    assert disk.log.log.log_start_offset == 3


def test_snapshots_are_cleaned_by_age() -> None:
    disk = Disk(metadata_max_retention_ms="500")
    disk.append("a", "b")
    disk.files.now_ms = 1000
    disk.snapshot(1)
    disk.snapshot(2)
    assert not disk.log.clean(1500, high_watermark=2)
    assert disk.log.clean(1501, high_watermark=2)
    assert disk.log.snapshots == [SnapshotId(2, 1)]
