"""Which `.snapshot` files there are, and which one producer state comes from."""

from __future__ import annotations

import pytest

from pykbroker.log.producers.producer_snapshots import ProducerSnapshots
from pykbroker.log.producers.producer_state import BatchMetadata, ProducerStateEntry
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import NOW_MS, memory_disk


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def snapshots_of(files: MemoryFiles) -> ProducerSnapshots:
    snapshots = ProducerSnapshots(files, "/d", "orders-3", 86_400_000)
    snapshots.found(files.listdir("/d"))
    return snapshots


def know(snapshots: ProducerSnapshots, producer_id: int, sequence: int) -> None:
    batch = BatchMetadata(sequence, sequence, 0, NOW_MS)
    snapshots.manager.producers[producer_id] = ProducerStateEntry(
        producer_id, 0, -1, NOW_MS, -1, [batch]
    )


def taken(files: MemoryFiles, *offsets: int) -> ProducerSnapshots:
    snapshots = snapshots_of(files)
    for offset in offsets:
        know(snapshots, 7, offset)
        snapshots.manager.map_end_offset = offset
        snapshots.take()
    return snapshots


def test_taken_once_for_each_offset(files: MemoryFiles) -> None:
    snapshots = taken(files, 5, 5, 3, 9)
    assert snapshots.offsets == [5, 9]
    assert files.listdir("/d") == ["00000000000000000005.snapshot", "00000000000000000009.snapshot"]
    assert snapshots.latest_path() == "/d/00000000000000000009.snapshot"


def test_reload_takes_the_newest_at_or_below_the_end(files: MemoryFiles) -> None:
    taken(files, 2, 5, 9)
    snapshots = snapshots_of(files)
    snapshots.truncate_and_reload(0, 8)
    assert snapshots.offsets == [2, 5]
    assert snapshots.manager.map_end_offset == 5
    assert snapshots.manager.producers[7].last_sequence == 5


def test_snapshots_below_the_log_start_go(files: MemoryFiles) -> None:
    taken(files, 2, 5)
    snapshots = snapshots_of(files)
    snapshots.truncate_and_reload(6, 8)
    assert snapshots.offsets == []
    assert (snapshots.manager.map_end_offset, snapshots.manager.is_empty) == (6, True)


def test_a_snapshot_at_the_log_start_stays(files: MemoryFiles) -> None:
    """All records are deleted, and their producers may still repeat the last batch."""
    taken(files, 2, 5)
    snapshots = snapshots_of(files)
    snapshots.truncate_and_reload(5, 5)
    assert snapshots.offsets == [5]
    assert snapshots.manager.producers[7].last_sequence == 5


def test_a_bad_snapshot_gives_way_to_an_older_one(files: MemoryFiles) -> None:
    taken(files, 2, 5)
    files.write_file("/d/00000000000000000005.snapshot", b"bad")
    snapshots = snapshots_of(files)
    snapshots.truncate_and_reload(0, 8)
    assert snapshots.manager.map_end_offset == 2
    assert files.listdir("/d") == ["00000000000000000002.snapshot"]


def test_strays(files: MemoryFiles) -> None:
    taken(files, 2, 4, 6, 8)
    snapshots = snapshots_of(files)
    snapshots.remove_stray([2, 6])
    assert snapshots.offsets == [2, 6, 8]


def test_foreign_names_are_no_snapshots(files: MemoryFiles) -> None:
    for name in (
        "5.snapshot",
        "0000000000000000000x.snapshot",
        "00000000000000000005.snapshot.tmp",
    ):
        files.write_file(f"/d/{name}", b"")
    assert snapshots_of(files).offsets == []


def test_remove_leaves_the_file_to_the_caller(files: MemoryFiles) -> None:
    snapshots = taken(files, 5)
    assert snapshots.remove(5) == "/d/00000000000000000005.snapshot"
    assert snapshots.remove(5) is None
    assert files.exists("/d/00000000000000000005.snapshot")
    snapshots.truncate_fully_and_start_at(3)
    assert snapshots.manager.map_end_offset == 3
