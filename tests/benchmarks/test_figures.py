"""The file of figures says what was measured, where, when and of which commit."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import circumstances, write_figures


def git(directory: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=n@example.com", *words]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "--quiet")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "one")
    monkeypatch.setattr(figures, "_ROOT", root)
    return root


@pytest.mark.interop
def test_where_and_when(checkout: Path) -> None:
    before = datetime.now(UTC)
    told = circumstances()
    assert re.fullmatch(r"\d+ processors \(.+\), \d+ GiB", told["machine"])
    pattern = r"Apache Kafka 4\.4\.0, \w+ 3\.\d+\.\S+, Java \d+\S*"
    assert re.fullmatch(pattern, told["versions"])
    days = {f"{before + later:%Y-%m-%d}" for later in (timedelta(), timedelta(hours=1))}
    assert told["day"] in days


@pytest.mark.interop
def test_the_commit_and_whether_files_differ_from_it(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "--short", "HEAD")
    assert circumstances()["commit"] == commit
    (checkout / "new").touch()
    assert circumstances()["commit"] == f"{commit} with changes"


@pytest.mark.interop
def test_outside_a_checkout_the_commit_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "_ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert circumstances()["commit"] == "unknown"


@pytest.mark.interop
def test_rows_stand_with_their_circumstances(tmp_path: Path) -> None:
    rows = [{"row": "one", "ratio": 1.5}]
    write_figures(tmp_path / "figures.json", rows)
    told = json.loads((tmp_path / "figures.json").read_text())
    assert told["rows"] == rows
    assert set(told["circumstances"]) == {"machine", "versions", "commit", "day"}
