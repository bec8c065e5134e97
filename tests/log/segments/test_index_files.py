"""When index files are read, written, preallocated, cut and forgotten."""

from __future__ import annotations

import random

import pytest

from pykbroker.environment.index_memory import IndexMemory
from pykbroker.log.producers.producer_state import CompletedTxn
from pykbroker.log.segments.index_files import (
    CorruptIndex,
    OffsetIndexFile,
    TimeIndexFile,
    TxnIndexFile,
)
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.log.log_makers import memory_disk


@pytest.fixture
def files() -> MemoryFiles:
    return memory_disk()


def test_entries_reach_the_file_when_they_are_written_back(files: MemoryFiles) -> None:
    index = OffsetIndexFile(files, "/d/i", 100, 83)
    index.preallocate()
    assert files.size("/d/i") == 80
    index.append(105, 10)
    index.append(110, 20)
    assert index.lookup(109) == (105, 10)
    assert files.read_file("/d/i") == bytes(80)
    index.write_back()
    assert files.read_file("/d/i")[:16] == bytes.fromhex("000000050000000a0000000a00000014")
    assert files.size("/d/i") == 80
    index.trim()
    assert files.size("/d/i") == 16
    assert OffsetIndexFile(files, "/d/i", 100, 83).lookup(200) == (110, 20)


def test_truncation_reaches_the_file(files: MemoryFiles) -> None:
    index = OffsetIndexFile(files, "/d/i", 0, 80)
    for offset in range(5):
        index.append(offset, offset * 10 + 1)
    index.truncate_to(3)
    assert files.size("/d/i") == 24
    index.append(9, 99)
    index.flush()
    again = OffsetIndexFile(files, "/d/i", 0, 80)
    assert again.index.entries() == [(0, 1), (1, 11), (2, 21), (9, 99)]


def test_a_missing_file_is_an_empty_index(files: MemoryFiles) -> None:
    index = TimeIndexFile(files, "/d/t", 7, 120)
    assert index.last_entry == (-1, 7)
    assert index.lookup(5) == (-1, 7)
    index.rename("/d/t.deleted")
    assert index.path == "/d/t.deleted"


def test_last_time_entry_alone(files: MemoryFiles) -> None:
    index = TimeIndexFile(files, "/d/t", 0, 1200)
    for step in range(10):
        index.append(1000 + step, step)
    index.trim()
    reads: list[str] = []
    again = TimeIndexFile(files, "/d/t", 0, 1200)
    files.fail = lambda name, path: reads.append(name) if name == "read" else None
    assert again.last_entry == (1009, 9)
    assert reads == ["read"]
    files.resize("/d/t", 1200)
    assert TimeIndexFile(files, "/d/t", 0, 1200).last_entry == (1009, 9)


def test_garbage_in_a_time_index(files: MemoryFiles) -> None:
    files.write_file("/d/t", b"\x01" * 24)
    with pytest.raises(CorruptIndex, match="/d/t"):
        TimeIndexFile(files, "/d/t", 0, 120).lookup(5)


def test_transaction_index_comes_with_its_first_entry(files: MemoryFiles) -> None:
    index = TxnIndexFile(files, "/d/x", 0, 0)
    assert index.collect(0, 100) == ([], False)
    assert not files.exists("/d/x")
    completed = CompletedTxn(7, 3, 9, True)
    completed.last_stable_offset = 10
    index.append_aborted(completed)
    assert files.size("/d/x") == 34
    found, _ = TxnIndexFile(files, "/d/x", 0, 0).collect(0, 100)
    assert found == [(7, 3, 9, 10)]
    index.rewrite([])
    assert not files.exists("/d/x")


def completed(first_offset: int) -> CompletedTxn:
    done = CompletedTxn(7, first_offset, first_offset + 1, True)
    done.last_stable_offset = first_offset + 2
    return done


@pytest.mark.parametrize("count", [2, 3])
def test_rewriting_a_transaction_index_keeps_what_is_synced(files: MemoryFiles, count: int) -> None:
    """Nothing syncs it again before the segment is below the recovery point."""
    before = TxnIndexFile(files, "/d/x", 0, 0)
    before.append_aborted(completed(0))
    before.append_aborted(completed(4))
    before.flush()
    files.sync_dir("/d")
    TxnIndexFile(files, "/d/x", 0, 0).rewrite([completed(4 * n) for n in range(count)])
    assert files.size("/d/x") == 34 * count
    files.crash(random.Random(1), reorder=True)
    assert files.read_file("/d/x")[:68] == before.index.to_bytes()


@pytest.mark.parametrize("content", [b"\xff" * 34, bytes(40), b"\0" * 136])
def test_rewriting_other_content_syncs_it(files: MemoryFiles, content: bytes) -> None:
    files.write_file("/d/x", content, sync=True)
    files.sync_dir("/d")
    index = TxnIndexFile(files, "/d/x", 0, 0)
    index.rewrite([completed(0)])
    files.crash(random.Random(1), reorder=True)
    assert TxnIndexFile(files, "/d/x", 0, 0).collect(0, 9) == index.collect(0, 9)


def test_a_dropped_index_loads_again(files: MemoryFiles) -> None:
    memory = IndexMemory(1)
    first = OffsetIndexFile(files, "/d/a", 0, 80, memory)
    first.append(5, 50)
    first.trim()
    second = OffsetIndexFile(files, "/d/b", 0, 80, memory)
    second.append(6, 60)
    second.trim()
    assert first.lookup(9) == (5, 50)
    assert second.lookup(9) == (6, 60)
