"""Processes that stand in for the nodes of `pykbroker cluster`: they do what a line says."""

from __future__ import annotations

import sys
from pathlib import Path

from pykbroker.cli.node_process import NodeProcess

_SCRIPT = """
import pathlib, signal, sys, time
number, story, journal = int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])

def note(what):
    with journal.open("a") as stream:
        stream.write(f"{number} {what}\\n")

def stop(signal_number, frame):
    note(signal.Signals(signal_number).name)
    if story != "stubborn":
        sys.exit(0)

for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, stop)
if story == "refuse":
    sys.exit("the port is taken")
print("ready node", flush=True)
if story == "fail":
    sys.exit("the disk is gone")
if story == "end":
    sys.exit(0)
while True:
    time.sleep(0.05)
"""


class ScriptedNode(NodeProcess):
    """`story`: serve, refuse (to start), fail or end (once ready), stubborn (ignores signals)."""

    def __init__(self, directory: Path, number: int, story: str, *, is_voter: bool = True) -> None:
        log = str(directory / f"node-{number}.log")
        super().__init__(number, f"node-{number}.properties", log, is_voter=is_voter)
        self._story = story
        self._journal = directory / "journal"

    def command(self) -> list[str]:
        return [sys.executable, "-c", _SCRIPT, str(self.id), self._story, str(self._journal)]


def journal(directory: Path) -> list[str]:
    """What the nodes noted, in order: `1 SIGTERM`."""
    file = directory / "journal"
    return file.read_text().splitlines() if file.exists() else []
