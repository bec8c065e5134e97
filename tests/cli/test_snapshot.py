from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from pykbroker.offline import open_log
from tests.cli.conftest import Run
from tests.offline.samples import partition_directory, simple_batches, write_segment


def test_create(run: Run, tmp_path: Path) -> None:
    live = tmp_path / "live"
    write_segment(partition_directory(live), simple_batches(3))
    write_segment(partition_directory(live, "u"), simple_batches(2))
    target = str(tmp_path / "taken")
    done = run("snapshot", "create", "--log-dirs", str(live), "--target", target)
    assert done.code == 0
    assert done.lines[0].startswith(f"Snapshot {target}: 2 partitions, 2 segments, 0 bytes linked")
    assert open_log(target).read_all().num_rows == 50


def test_create_some_topics_as_json(run: Run, tmp_path: Path) -> None:
    live = tmp_path / "live"
    write_segment(partition_directory(live), simple_batches(3))
    write_segment(partition_directory(live, "u"), simple_batches(2))
    target = str(tmp_path / "taken")
    arguments = ["--log-dirs", str(live), "--target", target, "--topics", "u", "--json"]
    done = run("snapshot", "create", *arguments)
    assert json.loads(done.out)["end_offsets"] == {"u-0": 20}


def test_refusals_are_one_line(run: Run, tmp_path: Path) -> None:
    arguments = ["--log-dirs", str(tmp_path / "nowhere"), "--target", str(tmp_path / "taken")]
    done = run("snapshot", "create", *arguments)
    assert done.code == 1
    assert done.err.strip() == f"{tmp_path}/nowhere is not a directory"


def test_that_nothing_could_be_linked_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refuse)
    directory = partition_directory(tmp_path / "live")
    write_segment(directory, simple_batches(3))
    write_segment(directory, simple_batches(3, base_offset=30), 30)
    paths = ("--log-dirs", str(tmp_path / "live"), "--target", str(tmp_path / "taken"))
    done = run("snapshot", "create", *paths)
    assert done.lines[1:] == ["Copied, since segments cannot be linked: Invalid cross-device link."]
