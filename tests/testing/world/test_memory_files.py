"""What a crash, a kill and ordered faults leave on the disk in memory."""

from __future__ import annotations

import errno
import random

import pytest

from pykbroker.testing.world.memory_files import MemoryFiles, SimulatedCrash


def test_crash_keeps_the_synced_and_a_prefix_of_the_rest() -> None:
    seen = set()
    for seed in range(60):
        files = MemoryFiles()
        files.mkdir("/d")
        file = files.open("/d/a", create=True)
        files.sync_dir("/")
        files.sync_dir("/d")
        file.pwritev([b"synced"], 0)
        file.sync()
        file.pwritev([b"AB"], 6)
        file.pwritev([b"CD"], 8)
        files.crash(random.Random(seed))
        seen.add(files.read_file("/d/a"))
    assert seen == {b"synced", b"syncedA", b"syncedAB", b"syncedABC", b"syncedABCD"}


def test_crash_forgets_unsynced_names() -> None:
    outcomes = set()
    for seed in range(40):
        files = MemoryFiles()
        files.mkdir("/d")
        files.write_file("/d/old", b"1", sync=True)
        files.sync_dir("/")
        files.sync_dir("/d")
        files.rename("/d/old", "/d/new")
        files.write_file("/d/more", b"2", sync=True)
        files.crash(random.Random(seed))
        outcomes.add(tuple(files.listdir("/d")))
    assert outcomes == {("old",), ("new",), ("more", "new")}


def test_kill_loses_nothing() -> None:
    files = MemoryFiles()
    files.mkdir("/d")
    assert files.lock("/d/.lock") is not None
    files.open("/d/a", create=True).pwritev([b"x"], 0)
    files.kill()
    assert files.read_file("/d/a") == b"x"
    assert files.lock("/d/.lock") is not None


def test_ordered_faults() -> None:
    files = MemoryFiles()
    files.mkdir("/d")
    file = files.open("/d/a", create=True)
    files.fail = lambda name, _: OSError(errno.EIO, "bad disk") if name == "sync" else None
    file.pwritev([b"x"], 0)
    with pytest.raises(OSError, match="bad disk"):
        file.sync()
    files.fail = None
    files.capacity_bytes = 4
    with pytest.raises(OSError, match="no space"):
        file.pwritev([b"yyyyyyy"], 1)
    assert files.read_file("/d/a") == b"xyyy"
    files.crash_at = files.calls + 1
    with pytest.raises(SimulatedCrash):
        file.sync()
