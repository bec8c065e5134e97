from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from pykbroker.cli.node_process import NodeProcess, last_line
from tests.cli.scripted_nodes import ScriptedNode, journal
from tests.harness.waiting import wait_for


def life(node: ScriptedNode, number: signal.Signals | None = None) -> tuple[bool, int, str]:
    """Whether it became ready, its exit code, and how it ended in words."""

    async def live() -> tuple[bool, int, str]:
        await node.launch(os.environ)
        running = [node.is_running]
        ready = await node.ready()
        if number is not None:
            node._send(number)
        code = await node.ended()
        running.append(node.is_running)
        assert running == [True, False]
        node.terminate()  # nothing is there any more to get it
        return ready, code, node.ending()

    return asyncio.run(live())


def test_lives(tmp_path: Path) -> None:
    def lived(story: str, number: signal.Signals | None = None) -> tuple[bool, int, str]:
        return life(ScriptedNode(tmp_path, 1, story), number)

    assert lived("serve", signal.SIGTERM) == (True, 0, "ended with exit code 0")
    assert lived("serve", signal.SIGKILL) == (True, -9, "was killed by SIGKILL")
    assert lived("refuse") == (False, 1, "ended with exit code 1: the port is taken")
    assert lived("fail") == (True, 1, "ended with exit code 1: the disk is gone")


def test_haste_is_two_signals(tmp_path: Path) -> None:
    async def hasten() -> None:
        node = ScriptedNode(tmp_path, 1, "stubborn")
        assert not node.is_running
        await node.launch(os.environ)
        await node.ready()
        node.hasten()
        while len(journal(tmp_path)) < 2:
            await asyncio.sleep(0.01)
        node.kill()
        await node.ended()

    asyncio.run(hasten())
    assert sorted(journal(tmp_path)) == ["1 SIGINT", "1 SIGTERM"]


def test_what_is_run() -> None:
    node = NodeProcess(1, "c", "l", is_voter=True, arguments=("--log-level", "WARN"))
    assert node.command()[1:] == (
        ["-m", "pykbroker", "start", "--config", "c", "--log-level", "WARN"]
    )  # fmt: skip


def test_the_last_line_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for text, line in (
        ("first\nlast\n", "last"),
        ("last, torn", "last, torn"),
        ("before\n\n \n", "before"),
        ("", f"see {log}"),
        ("x" * 100_000, "x" * 8192),
    ):
        log.write_text(text)
        assert last_line(str(log)) == line


_PARENT = """
import asyncio, os, pathlib, sys
sys.path.insert(0, {root!r})
from tests.cli.scripted_nodes import ScriptedNode

async def main():
    node = ScriptedNode(pathlib.Path({directory!r}), 1, "serve")
    await node.launch(os.environ)
    await node.ready()
    print("up", flush=True)
    await node.ended()

asyncio.run(main())
"""


def test_a_node_does_not_outlive_us(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    script = _PARENT.format(root=root, directory=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        parent.kill()
    # Linux signals a child whenever a thread of its parent ends, so SIGTERM may come twice: asyncio
    # waits for the process in a thread of its own, which can briefly outlive the main thread.
    wait_for(lambda: "1 SIGTERM" in journal(tmp_path), "the node to receive SIGTERM")
