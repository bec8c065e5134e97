"""A snapshot whose linked segments were cut in the live log is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.offline import OfflineError, create_snapshot, fsck, open_log
from tests.offline.samples import partition_directory, simple_batches, write_segment


def test_a_live_log_that_is_truncated_in_place(tmp_path: Path):
    directory = partition_directory(tmp_path / "live")
    first = write_segment(directory, simple_batches(10))
    write_segment(directory, simple_batches(5, base_offset=100))
    target = create_snapshot(str(tmp_path / "live"), str(tmp_path / "taken")).target
    assert open_log(target).read_all().num_rows == 150
    assert fsck(target).num_rows == 0
    size = first.stat().st_size
    manifest = json.loads((tmp_path / "taken" / "snapshot.json").read_text())
    assert manifest["sizes"]["t-0"][first.name] == size
    os.truncate(first, size // 2)
    with pytest.raises(OfflineError, match=f"recorded {size} bytes, the file has {size // 2}"):
        open_log(target)
    assert ("error", "files") in {
        (row["severity"], row["check"]) for row in fsck(target).to_pylist()
    }


@pytest.mark.parametrize(
    "text", ["[", "[]", "5", '{"sizes": 5}', '{"sizes": {"t-0": 5}}', "[" * 100_000, "\xff"]
)
def test_a_manifest_that_is_none(tmp_path: Path, text: str):
    write_segment(partition_directory(tmp_path), simple_batches(1))
    (tmp_path / "snapshot.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(OfflineError, match="is not the manifest of a snapshot"):
        open_log(tmp_path)
    (row,) = fsck(tmp_path).to_pylist()
    assert row["path"] == str(tmp_path / "snapshot.json")
    assert "is not the manifest of a snapshot" in row["detail"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_manifest_that_is_no_file(tmp_path: Path, make: Callable[[Path], None]):
    write_segment(partition_directory(tmp_path), simple_batches(1))
    make(tmp_path / "snapshot.json")
    with pytest.raises(OfflineError, match=r"snapshot\.json: cannot be read"):
        open_log(tmp_path)
    (row,) = fsck(tmp_path).to_pylist()
    assert (row["check"], row["path"]) == ("files", str(tmp_path / "snapshot.json"))
