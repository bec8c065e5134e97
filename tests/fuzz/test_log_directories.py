"""Damaged log directories.

Invariant: whatever the bytes of any file of a log directory are, reading it (rows, views, fsck,
snapshots) ends with an OfflineError or with a result; a result of PERMISSIVE holds only records
that were written.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pykbroker.offline import (
    OfflineError,
    batches,
    create_snapshot,
    fsck,
    open_log,
    segments,
    transactions,
)
from tests.offline.log_writer import random_log

COLUMNS = ("offset", "value", "timestamp_ms")


def damage_files(chance: random.Random, directory: Path) -> None:
    """Change, cut, stretch or replace a few files at random places."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    for path in chance.choices(files, k=chance.choice([1, 2, 5])):
        content = bytearray(path.read_bytes())
        kind = chance.randrange(5)
        at = chance.randrange(len(content) + 1)
        if kind == 0 and content:
            for _ in range(chance.choice([1, 4])):
                content[chance.randrange(len(content))] = chance.randrange(256)
        elif kind == 1:
            del content[at:]
        elif kind == 2:
            del content[at : at + chance.choice([1, 8, 100])]
        elif kind == 3:
            content[at:at] = chance.randbytes(chance.choice([1, 8, 100]))
        else:
            content = bytearray(chance.randbytes(chance.choice([0, 50, 3000])))
        path.write_bytes(content)


def read_whole(path: str, options: dict[str, Any]) -> None:
    open_log(path, **options).read_all()


def outcome(action: Callable[[], Any]) -> Any:
    with contextlib.suppress(OfflineError):
        return action()
    return None


@pytest.mark.parametrize("seed", range(40))
def test_damaged_directories(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    logs = tmp_path / "logs"
    random_log(logs, seed)
    rows = open_log(str(logs), columns=COLUMNS).read_all().to_pylist()
    written = {(row["value"], row["timestamp_ms"]) for row in rows}
    (logs / "log-start-offset-checkpoint").write_text("0\n1\nt 0 3\n")
    (logs / "replication-offset-checkpoint").write_text("0\n1\nt 0 90\n")
    damage_files(chance, logs)
    path = str(logs)
    for isolation in ("read_uncommitted", "read_committed"):
        for decoder in ("numpy", "plain"):
            options: dict[str, Any] = {
                "columns": COLUMNS,
                "isolation": isolation,
                "decoder": decoder,
            }
            outcome(partial(read_whole, path, options))
            scan = outcome(partial(open_log, path, mode="PERMISSIVE", **options))
            rows = scan.read_all().to_pylist() if scan is not None else []
            # Offsets lie outside of the checksum, all else of a record within.
            assert {(row["value"], row["timestamp_ms"]) for row in rows} <= written
            if scan is not None and not scan.corrupt_batches:
                assert scan.corruptions.num_rows == 0
    for view in (batches, segments, transactions, fsck):
        outcome(partial(view, path))
    report = outcome(lambda: create_snapshot(path, str(tmp_path / "taken")))
    if report is not None:
        taken = open_log(str(tmp_path / "taken"), mode="PERMISSIVE", columns=COLUMNS)
        live = open_log(path, mode="PERMISSIVE", columns=COLUMNS)
        assert taken.read_all().num_rows == live.read_all().num_rows
