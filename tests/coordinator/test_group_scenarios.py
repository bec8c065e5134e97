"""Interaction scripts: each command of `tests/scenarios/groups_*.txt` and all that it causes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.coordinator.group_world import GroupWorld

SCENARIOS = Path(__file__).parent.parent / "scenarios"
SCRIPTS = sorted(SCENARIOS.glob("groups_*.txt"))


def play(script: str) -> str:
    """The script with its log as it is now."""
    world = GroupWorld()
    out: list[str] = []
    for line in script.splitlines():
        if line.startswith("> "):
            out.append(line)
            world.lines.clear()
            world.run(line[2:])
            out.extend(f"  {event}" for event in world.lines)
        elif not line.startswith("  "):
            out.append(line)
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    expected = path.read_text()
    played = play(expected)
    if os.environ.get("PYKBROKER_REWRITE_SCENARIOS"):
        path.write_text(played)
    else:
        assert played == expected


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 8
