"""Interaction scripts: each command of a file in `tests/scenarios/` and all that it causes.

    > command
      event
      event

Lines of other forms are comments and stay. A world understands the commands of its scripts, and
puts what happens into `lines`. With PYKBROKER_REWRITE_SCENARIOS in the environment the events are
written as they are now, in place of being compared.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

SCENARIOS = Path(__file__).parent.parent / "scenarios"


class World(Protocol):
    lines: list[str]

    def run(self, command: str) -> None: ...


def scripts(prefix: str, at_least: int) -> list[Path]:
    """The files of one subject: no fewer than there were."""
    found = sorted(SCENARIOS.glob(f"{prefix}_*.txt"))
    assert len(found) >= at_least, f"{len(found)} scripts {prefix}_*.txt"
    return found


def played(script: str, world: World) -> str:
    """The script with its events as they are now."""
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


def replayed(path: Path, world: World) -> tuple[str, str]:
    """The script with its events as they are now, and as the file has them."""
    expected = path.read_text("utf-8")
    now = played(expected, world)
    if os.environ.get("PYKBROKER_REWRITE_SCENARIOS"):
        path.write_text(now, "utf-8")
        return now, now
    return now, expected
