"""Worker processes as the node starts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pykbroker.environment.real.files import RealFiles
from pykbroker.environment.real.worker_process import main
from pykbroker.log.compaction import cleaner_process
from pykbroker.log.recovery import recovery_process


@pytest.mark.parametrize("module", [recovery_process, cleaner_process])
def test_it_ends_with_its_input(module: object) -> None:
    name = module.__name__  # type: ignore[attr-defined]
    command = [sys.executable, "-m", "pykbroker.environment.real.worker_process", name]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_module_gets_real_files_and_its_niceness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nice: list[int] = []
    served: list[object] = []
    monkeypatch.setattr("os.nice", nice.append)
    monkeypatch.setattr(cleaner_process, "serve", lambda *given: served.append(given[0]))
    main(cleaner_process.__name__)
    assert nice == [10]
    assert isinstance(served[0], RealFiles)
