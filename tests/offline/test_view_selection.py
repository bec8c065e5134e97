"""Which partitions views are of; what changes under them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import (
    BadOption,
    OfflineError,
    Selection,
    batches,
    create_snapshot,
    fsck,
    log_ends,
    open_log,
    segments,
    selecting,
    transactions,
)
from pykbroker.offline.layout import read_partitions
from tests.offline.samples import partition_directory, simple_batches, write_segment

VIEWS = [batches, segments, transactions]


@pytest.mark.parametrize("view", [*VIEWS, fsck])
@pytest.mark.parametrize("what", ["retention", "compaction"])
def test_segments_that_go_after_they_were_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, view: Callable[[str], Any], what: str
):
    """Nothing of the old listing is mixed with the new files."""
    directory = partition_directory(tmp_path)
    for base in (0, 100, 200):
        write_segment(directory, simple_batches(10, base_offset=base), base)
    real = read_partitions

    def listed_just_before(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        for each in directory.glob(f"{0:020d}.*"):
            each.unlink()
        if what == "compaction":
            write_segment(directory, simple_batches(3), 0)
        return found

    monkeypatch.setattr(selecting, "read_partitions", listed_just_before)
    seen = view(str(tmp_path))
    monkeypatch.undo()
    assert seen.equals(view(str(tmp_path)))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("wrong", [0, ["0"]])
def test_partitions_are_numbers(tmp_path: Path, view: Callable[..., Any], wrong: Any):
    write_segment(partition_directory(tmp_path), simple_batches(1))
    with pytest.raises(BadOption, match="partitions must be a list of numbers"):
        view(tmp_path, partitions=wrong)


@pytest.mark.parametrize("view", VIEWS)
def test_a_selection_speaks_alone(tmp_path: Path, view: Callable[..., Any]):
    write_segment(partition_directory(tmp_path), simple_batches(1))
    selection = Selection((str(tmp_path),))
    for more in ({"topics": "t"}, {"partitions": [0]}):
        with pytest.raises(BadOption, match="a Selection already names"):
            view(selection, **more)
    assert view(selection).equals(view(tmp_path))


@pytest.mark.parametrize("look", [*VIEWS, open_log, lambda path: log_ends(Selection((str(path),)))])
def test_a_snapshot_that_is_not_what_it_was(tmp_path: Path, look: Callable[[Path], Any]):
    path = write_segment(partition_directory(tmp_path / "live"), simple_batches(3))
    write_segment(path.parent, simple_batches(1, base_offset=30), 30)
    taken = tmp_path / "taken"
    create_snapshot(tmp_path / "live", taken)
    look(taken)
    with path.open("r+b") as opened:  # as recovery does
        opened.truncate(path.stat().st_size - 5)
    with pytest.raises(OfflineError, match="the live log was truncated"):
        look(taken)
    assert "truncated" in fsck(taken)["detail"][0].as_py()
