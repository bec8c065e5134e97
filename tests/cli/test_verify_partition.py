"""dump-log --verify on a partition's directory as a whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.directories.checkpoints import PartitionMetadata
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.protocol.control_records import ABORT, COMMIT
from tests.cli.conftest import Run
from tests.log.directories.test_log_manager import ORDERS, TOPIC_ID, make_manager
from tests.log.log_makers import NOW_MS, append, open_orders
from tests.log.partition.test_lookup import transaction

FIRST, SECOND, THIRD = (f"orders-0/{base:020d}" for base in (0, 2, 4))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two partitions of a node that was stopped; the first one has the segments 0, 2, 4."""
    manager: LogManager = make_manager(RealFiles(), str(tmp_path))
    manager.load(NOW_MS)
    config = TopicConfig.default(segment_ms="1000", index_interval_bytes="0")
    log = manager.create(ORDERS[0], TOPIC_ID, config)
    for step in range(6):
        append(log, b"v", timestamp=NOW_MS + 600 * step)
    append(manager.create(ORDERS[1], TOPIC_ID, config), b"v")
    manager.shutdown(NOW_MS)
    (tmp_path / "meta.properties").write_text("node.id=1\nversion=1\ncluster.id=x\n")
    return tmp_path


def test_a_good_directory(run: Run, directory: Path) -> None:
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 0, outcome.out


def metadata_of(topic_id: str) -> str:
    return f"version: 0\ntopic_id: {topic_id}"


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda d: (d / f"{SECOND}.log").unlink(), f"{SECOND}.index: there is no {SECOND[9:]}.log"),
    (lambda d: (d / f"{SECOND}.log").unlink(),
     f"{THIRD}.log: the segment before it ends at offset 2"),
    (lambda d: (d / f"{SECOND}.log").write_bytes(b""),
     f"{THIRD}.log: the segment before it ends at offset 2"),
    (lambda d: (d / f"{SECOND}.index").unlink(), f"{SECOND}.log: there is no {SECOND[9:]}.index"),
    (lambda d: (d / f"{THIRD}.log").write_bytes(b""),
     f"{THIRD}.log: ends at offset 4, but the log was synced up to 6"),
    (lambda d: (d / "log-start-offset-checkpoint").write_text("0\n1\norders 0 99\n"),
     f"{THIRD}.log: ends at offset 6, but log-start-offset-checkpoint says 99"),
    (lambda d: (d / "orders-0/partition.metadata").unlink(),
     "orders-0/partition.metadata: is missing beside records"),
    (lambda d: (d / "orders-1/partition.metadata").write_text(
        metadata_of("N7Qt5OgXR2mD9DAOdFX9qQ")),
     "orders-1/partition.metadata: does not agree with"),
    (lambda d: (d / "quorum-state").write_bytes(b"\xff"),
     "quorum-state: the quorum state cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), DAMAGES)
def test_damage_is_found_and_named(
    run: Run, directory: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(directory)
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 1
    assert any(line.startswith(f"{directory}/{message}") for line in outcome.lines), outcome.out


def test_gaps_that_compaction_may_have_made_are_fine(run: Run, directory: Path) -> None:
    for suffix in ("log", "index", "timeindex"):
        (directory / f"{SECOND}.{suffix}").unlink()
    (directory / "cleaner-offset-checkpoint").write_text("0\n1\norders 0 4\n")
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 0, outcome.out


def test_the_transaction_index_is_held_against_the_markers(run: Run, directory: Path) -> None:
    log = open_orders(RealFiles(), str(directory / "orders-2"))
    transaction(log, 7, COMMIT)
    transaction(log, 8, ABORT)
    log.close()
    (directory / "orders-2" / "partition.metadata").write_bytes(
        PartitionMetadata(TOPIC_ID).to_bytes()
    )
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.code == 0, outcome.out
    index = directory / "orders-2/00000000000000000000.txnindex"
    content = bytearray(index.read_bytes())
    content[9] ^= 1  # the producer
    index.write_bytes(content)
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.lines[0] == f"{index}: 2 to 3 of producer 9 is not an aborted transaction"
    index.unlink()
    outcome = run("dump-log", "--verify", "--files", str(directory))
    assert outcome.lines[0] == f"{index}: aborted 2 to 3 of producer 8 is not in the index"
