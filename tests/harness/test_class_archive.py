"""The archive of Apache's classes: made once, used by every JVM, missed by none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.harness import class_archive
from tests.harness.apache import STORAGE, java_command
from tests.harness.class_archive import NAME, archive_options

options_of = archive_options.__wrapped__  # as another process would


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The paths that were asked for, with an empty cache and without a JVM."""
    monkeypatch.setenv("PYKBROKER_TEST_CACHE", str(tmp_path))
    monkeypatch.setattr(class_archive, "fingerprint", lambda: "of-these-jars")
    return []


def test_it_is_made_once(made: list[Path], tmp_path: Path) -> None:
    def make(path: Path) -> None:
        made.append(path)
        path.write_bytes(b"classes")

    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "of-other-jars.jsa").touch()
    first, second = options_of(make), options_of(make)
    assert first == second
    (path,) = (tmp_path / NAME).iterdir()
    assert f"-XX:SharedArchiveFile={path}" in first
    assert len(made) == 1


@pytest.mark.parametrize("failure", [None, AssertionError("does not start"), OSError("full")])
def test_where_it_cannot_be_made_there_is_none(made: list[Path], failure: Exception | None) -> None:
    def make(path: Path) -> None:
        made.append(path)
        if failure is not None:
            raise failure

    assert options_of(make) == options_of(make) == ()
    assert len(made) == 1


@pytest.mark.interop
def test_tools_take_their_classes_from_it() -> None:
    java, *options = java_command(STORAGE, "random-uuid")
    quiet = options.index("-Xlog:disable") + 1
    options.insert(quiet, "-Xlog:class+load:stderr")
    done = subprocess.run([java, *options], capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert "kafka.tools" in done.stderr
    of_kafka = [line for line in done.stderr.splitlines() if "org.apache.kafka" in line]
    assert any("shared objects file (top)" in line for line in of_kafka)
