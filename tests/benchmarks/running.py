"""Runs a benchmark as its reader does, `python -m ...`, and takes its table apart."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def run(module: str, *words: str, is_quiet: bool = True, timeout_s: float = 1200) -> list[str]:
    """What a benchmark prints, line by line; with nothing on standard error."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout_s)
    assert done.returncode == 0, done.stdout + done.stderr
    if is_quiet:
        assert done.stderr == ""
    return done.stdout.splitlines()


def numbers(text: str) -> list[float]:
    """All that stand by themselves, but for a unit."""
    return [float(found.replace(",", "")) for found in _NUMBER.findall(text)]


def check_rows(lines: list[str], names: list[str], figures: int) -> None:
    """A line for each name, in this order, with so many numbers behind it, all above 0."""
    assert len(lines) == len(names), lines
    for line, name in zip(lines, names, strict=True):
        assert line.startswith(name), (line, name)
        found = numbers(line.removeprefix(name))
        assert len(found) == figures, line
        assert all(figure > 0 for figure in found), line
