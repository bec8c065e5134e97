"""A split is read from the file it was planned on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pykbroker.offline.faults import OffsetsGone
from pykbroker.offline.split import Split
from pykbroker.offline.split_file import open_split


def test_the_file_or_its_old_name_or_nothing(tmp_path: Path):
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    split = Split(str(path), "t", 0, 0, 0, 5, file_bytes=5)
    for expected in (path, tmp_path / "log.deleted"):
        opened = open_split(split)
        assert opened is not None
        with opened:
            assert opened.read(9, 0) == b"12345"
        if expected == path:
            path.rename(tmp_path / "log.deleted")
            path.write_bytes(b"123")
    (tmp_path / "log.deleted").unlink()
    with pytest.raises(OffsetsGone, match="was 5 bytes when it was planned, now 3"):
        open_split(split)
    assert open_split(replace(split, fail_on_data_loss=False)) is None
    growing = open_split(replace(split, file_bytes=None))
    assert growing is not None
    growing.close()
