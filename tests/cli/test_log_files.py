from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.cli.command import CommandError
from pykbroker.cli.log_files import base_offset_of, batches, map_file
from tests.cli.segment_files import BASE, positions, write_segment


def found(content: bytes, start: int = 0) -> list[tuple[int, int]]:
    """(position, base offset) of the batches."""
    return [
        (position, header.base_offset)
        for position, header in batches(memoryview(content), "/d/0.log", start)
    ]


def test_batches_from_a_position_on(tmp_path: Path) -> None:
    log = write_segment(tmp_path)
    second, third = positions(tmp_path)
    content = bytes(map_file(str(log)))
    assert content == log.read_bytes()
    assert found(content) == [(0, BASE), (second, BASE + 2), (third, BASE + 4)]
    assert found(content, third) == [(third, BASE + 4)]


@pytest.mark.parametrize("cut", [1, 60, 70])
def test_a_torn_batch_ends_it(tmp_path: Path, cut: int) -> None:
    content = write_segment(tmp_path).read_bytes()
    assert found(content[:-cut]) == found(content)[:-1]


def test_a_length_that_no_batch_has(tmp_path: Path) -> None:
    content = bytearray(write_segment(tmp_path).read_bytes())
    content[8:12] = (13).to_bytes(4, "big")
    message = r"record size 13 smaller than minimum record overhead \(14\) in file 0\.log"
    with pytest.raises(CommandError, match=message):
        found(bytes(content))


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "0.log").touch()
    assert bytes(map_file(str(tmp_path / "0.log"))) == b""


def test_the_offset_in_a_name() -> None:
    assert base_offset_of("/d/t-0/00000000000000000100.timeindex") == 100
    with pytest.raises(CommandError, match=r"x-1\.log: the name does not begin with an offset"):
        base_offset_of("/d/x-1.log")
