"""Tables of headers and single headers walk the same batches, also past corrupt bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pykbroker.offline.batch_headers import header_at
from pykbroker.offline.partition_files import SegmentFiles
from pykbroker.offline.segment_walk import header_tables, walk_headers
from pykbroker.offline.storage import RemoteFile, SegmentFile, open_file
from tests.offline.samples import odd_batches, simple_batches, write_segment


def both(path: Path, base_offset: int, *, remote: bool = False) -> list[int]:
    """The positions that both find; they must be the same, with the same headers."""
    from pyarrow import fs

    index = str(path.with_suffix(".index"))
    opened: SegmentFile = open_file(str(path))
    if remote:
        opened = RemoteFile(str(path), fs.LocalFileSystem().open_input_file(str(path)))
    with opened:
        segment = SegmentFiles(base_offset, str(path), opened.size, index, None, None)
        single = list(walk_headers(opened, segment, opened.size))
        runs = list(header_tables(opened, index, base_offset, 0, opened.size))
        many = [
            (int(position), header_at(run.table, number))
            for run in runs
            for number, position in enumerate(run.positions)
        ]
    found = [(position, header) for position, header in single if header is not None]
    assert [(position, repr(header)) for position, header in found] == [
        (position, repr(header)) for position, header in many
    ]
    return [position for position, _ in many]


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sound_segments(tmp_path: Path, seed: int, remote: bool):
    batches = [*simple_batches(400, 1), *odd_batches(seed), *simple_batches(300, 1, size=1)]
    path = write_segment(tmp_path, batches[400:430])
    base = int(path.stem)
    assert len(both(path, base, remote=remote)) == 30
    path.write_bytes(b"".join(batches))
    assert len(both(path, base, remote=remote)) == len(batches)


@pytest.mark.parametrize("seed", range(10))
def test_broken_segments(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    batches = simple_batches(100, size=chance.choice([1, 300]))
    path = write_segment(tmp_path, batches, index_every=1000)
    content = bytearray(path.read_bytes())
    for _ in range(5):
        at = sum(map(len, batches[: chance.randrange(100)])) + 8
        content[at : at + 4] = chance.choice([bytes(4), b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"])
    path.write_bytes(content)
    assert len(both(path, 0)) < 100
