from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.protocol.compression import GZIP, NONE
from tests.cli.conftest import Run
from tests.cli.segment_files import BASE, NAME, TIME, positions, write_segment
from tests.harness.old_messages import OLD_MS, old_segment


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory with one partition."""
    partition = tmp_path / "data" / "t-0"
    partition.mkdir(parents=True)
    write_segment(partition)
    (partition / "partition.metadata").write_text("version: 0\ntopic_id: N7Qt5OgXR2mD9DAOdFX9qQ\n")
    (partition / "leader-epoch-checkpoint").write_text("0\n1\n3 100\n")
    for name in ("recovery-point", "log-start", "replication"):
        file = partition.parent / f"{name}-offset-checkpoint"
        file.write_text("0\n1\nt 0 105\n")
    meta = "node.id=1\ndirectory.id=N7Qt5OgXR2mD9DAOdFX9qQ\nversion=1\ncluster.id=x\n"
    (partition.parent / "meta.properties").write_text(meta)
    (partition.parent / ".lock").touch()
    return partition.parent


def test_a_good_directory(run: Run, directory: Path) -> None:
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert (outcome.code, outcome.out) == (0, "12 files checked, 0 faults found.\n")


def flip(file: Path, position: int) -> None:
    content = bytearray(file.read_bytes())
    content[position] ^= 0xFF
    file.write_bytes(content)


def put(file: Path, position: int, value: int) -> None:
    content = bytearray(file.read_bytes())
    content[position] = value
    file.write_bytes(content)


def cut(file: Path, count: int) -> None:
    file.write_bytes(file.read_bytes()[:-count])


def test_one_fault(run: Run, directory: Path) -> None:
    flip(directory / LOG, 70)
    outcome = run("dump-log", "--verify", "--files", str(directory / LOG))
    assert outcome.code == 1
    assert outcome.lines[1:] == ["1 file checked, 1 fault found."]


def second(directory: Path) -> int:
    return positions(directory / "t-0")[0]


def third(directory: Path) -> int:
    return positions(directory / "t-0")[1]


LOG = f"t-0/{NAME}.log"
INDEX = f"t-0/{NAME}.index"
TIMES = f"t-0/{NAME}.timeindex"

DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    (LOG, lambda d: flip(d / LOG, 70), "batch at offset 100, position 0: wrong checksum"),
    (LOG, lambda d: flip(d / LOG, second(d) + 70), "batch at offset 102, position "),
    (LOG, lambda d: cut(d / LOG, 3), "bytes after the last whole batch, at position "),
    (LOG, lambda d: flip(d / LOG, second(d) + 16), "position {}: record batch of magic "),
    (LOG, lambda d: flip(d / LOG, 8), "Found record size -"),
    (LOG, lambda d: put(d / LOG, third(d) + 7, 100), "offsets go back from 104"),
    (INDEX, lambda d: flip(d / INDEX, 7), "entry 0: no batch begins at "),
    (INDEX, lambda d: cut(d / INDEX, 1), "found 15 bytes which is neither positive nor"),
    (INDEX, lambda d: (d / INDEX).write_bytes(bytes(range(1, 17))), "no batch begins at"),
    (TIMES, lambda d: flip(d / TIMES, 19), ", but the largest up to there is "),
    (TIMES, lambda d: (d / TIMES).write_bytes(struct.pack(">qiqi", TIME + 1, 1, TIME, 4)),
     "timestamp is 1600000000000 which is less than the first"),
    (f"t-0/{NAME}.txnindex", lambda d: cut(d / f"t-0/{NAME}.txnindex", 3), ""),
    (f"t-0/{BASE + 5:020d}.snapshot", lambda d: flip(d / f"t-0/{BASE + 5:020d}.snapshot", 20),
     "producer snapshot with a wrong checksum"),
    ("t-0/leader-epoch-checkpoint",
     lambda d: (d / "t-0/leader-epoch-checkpoint").write_text("0\n1\nx y\n"), "line 3"),
    ("log-start-offset-checkpoint",
     lambda d: (d / "log-start-offset-checkpoint").write_text("7\n"), "line 1"),
    ("t-0/partition.metadata", lambda d: (d / "t-0/partition.metadata").write_text("x\n"), ""),
    ("meta.properties", lambda d: (d / "meta.properties").write_text("version=9\n"), "version"),
    ("thesis.docx", lambda d: (d / "thesis.docx").write_text("x"), "not a file of Kafka"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "damage", "message"), DAMAGES)
def test_damage_is_found_and_named(
    run: Run, directory: Path, name: str, damage: Callable[[Path], object], message: str
) -> None:
    at = second(directory)
    damage(directory)
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 1
    found = [line for line in outcome.lines if line.startswith(f"{directory / name}: ")]
    assert found, outcome.out
    assert message.format(at) in found[0]


def test_directories_of_different_nodes(run: Run, directory: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    meta = (directory / "meta.properties").read_text()
    (other / "meta.properties").write_text(meta.replace("node.id=1", "node.id=2"))
    outcome = run("dump-log", "--verify", "--files", f"{directory},{other}")
    assert outcome.code == 1
    assert outcome.lines[0] == (
        f"{other}/meta.properties: belongs to node 2 of cluster x, but "
        f"{directory}/meta.properties to node 1 of cluster x"
    )


def test_preallocated_indexes_and_left_overs_are_fine(run: Run, directory: Path) -> None:
    partition = directory / "t-0"
    (partition / f"{BASE + 5:020d}.log").write_bytes(b"")
    for suffix, size in ((".index", 80), (".timeindex", 120)):
        (partition / f"{BASE + 5:020d}{suffix}").write_bytes(bytes(size))
    index = partition / f"{NAME}.index"
    index.write_bytes(index.read_bytes() + bytes(80))
    times = partition / f"{NAME}.timeindex"
    times.write_bytes(times.read_bytes() + bytes(120))
    (partition / f"{NAME}.log.deleted").write_bytes(b"rubbish")
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 0, outcome.out


def test_what_is_not_there(run: Run, tmp_path: Path) -> None:
    outcome = run("dump-log", "--verify", "--files", str(tmp_path / "none"))
    assert (outcome.code, outcome.err) == (1, f"{tmp_path}/none: No such file or directory\n")


@pytest.mark.parametrize("codec", [NONE, GZIP])
@pytest.mark.parametrize("magic", [0, 1])
def test_messages_before_magic_2(magic: int, codec: int, run: Run, tmp_path: Path) -> None:
    content = old_segment(magic, codec)
    path = tmp_path / f"{10:020d}.log"
    path.write_bytes(content)
    assert run("dump-log", "--verify", "--files", str(path)).code == 0
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    outcome = run("dump-log", "--verify", "--files", str(path))
    assert outcome.code == 1
    assert "batch at offset 29" in outcome.out
    assert "wrong checksum" in outcome.out


def test_indexes_of_messages_before_magic_2(run: Run, tmp_path: Path) -> None:
    """Kafka before 1.0 indexed first offsets, and times by the offset of their record."""
    parts = [old_segment(1, GZIP, first, 5) for first in (10, 15)]
    name = str(tmp_path / f"{10:020d}")
    Path(f"{name}.log").write_bytes(b"".join(parts))
    index, times = Path(f"{name}.index"), Path(f"{name}.timeindex")
    for relative, code in ((5, 0), (9, 0), (10, 1)):
        index.write_bytes(struct.pack(">ii", relative, len(parts[0])))
        assert run("dump-log", "--verify", "--files", str(index)).code == code
    for time, relative, code in ((OLD_MS + 4, 2, 0), (OLD_MS + 4, 7, 0), (OLD_MS + 3, 2, 1)):
        times.write_bytes(struct.pack(">qi", time, relative))
        assert run("dump-log", "--verify", "--files", str(times)).code == code
