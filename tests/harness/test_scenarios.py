"""The player of scripts: what it keeps, what it replaces, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.scenarios import played, replayed, scripts

SCRIPT = """\
# counting

> add 2
  2
> add 3
  5
  odd
"""


class Counter:
    def __init__(self) -> None:
        self.sum = 0
        self.lines: list[str] = []

    def run(self, command: str) -> None:
        self.sum += int(command.removeprefix("add "))
        self.lines.append(str(self.sum))
        if self.sum % 2:
            self.lines.append("odd")


def test_events_are_replaced_and_the_rest_stays() -> None:
    assert played(SCRIPT.replace("  odd\n", "").replace("  2", "  7"), Counter()) == SCRIPT


def test_events_of_now_and_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = SCRIPT.replace("  odd\n", "")
    path = tmp_path / "counter_01.txt"
    path.write_text(old)
    monkeypatch.delenv("PYKBROKER_REWRITE_SCENARIOS", raising=False)
    assert replayed(path, Counter()) == (SCRIPT, old)
    assert path.read_text("utf-8") == old
    monkeypatch.setenv("PYKBROKER_REWRITE_SCENARIOS", "1")
    assert replayed(path, Counter()) == (SCRIPT, SCRIPT)
    assert path.read_text("utf-8") == SCRIPT


def test_scripts_that_are_not_found() -> None:
    with pytest.raises(AssertionError, match=r"0 scripts nothing_\*\.txt"):
        scripts("nothing", at_least=1)
