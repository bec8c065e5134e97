from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pykbroker.cli import cluster_nodes
from pykbroker.cli.cluster_nodes import ClusterNodes
from tests.cli.scripted_nodes import ScriptedNode, journal


async def _when(holds: Callable[[], bool], act: Callable[[], None]) -> None:
    while not holds():
        await asyncio.sleep(0.01)
    act()


def signalling(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def run(
    nodes: Sequence[ScriptedNode], *steps: tuple[Callable[[], bool], Callable[[], None]]
) -> int:
    """The exit code of these nodes' cluster; `steps` are done in turn, each when it may be."""

    async def live() -> int:
        async def act() -> None:
            for holds, do in steps:
                await _when(holds, do)

        acting = asyncio.create_task(act())
        code = await ClusterNodes(nodes, "ready nodes", os.environ).run()
        await acting
        return code

    return asyncio.run(live())


@pytest.fixture
def is_ready(capfd: pytest.CaptureFixture[str]) -> Callable[[], bool]:
    """Whether the ready line has been printed."""
    printed = [""]

    def look() -> bool:
        printed[0] += capfd.readouterr().out
        return "ready nodes\n" in printed[0]

    return look


def serving(directory: Path, voters: int, brokers: int = 0) -> list[ScriptedNode]:
    return [
        ScriptedNode(directory, number, "serve", is_voter=number <= voters)
        for number in range(1, voters + brokers + 1)
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_all_in_order(
    tmp_path: Path, is_ready: Callable[[], bool], number: signal.Signals
) -> None:
    """Brokers before voters; who has no quorum left is told not to wait for one."""
    assert run(serving(tmp_path, 3, 2), (is_ready, signalling(number))) == 0
    told = journal(tmp_path)
    assert told[:4] == ["5 SIGTERM", "4 SIGTERM", "3 SIGTERM", "2 SIGTERM"]
    assert {line[0] for line in told[4:]} == {"1"}


def test_a_node_that_does_not_start(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    nodes = [ScriptedNode(tmp_path, 1, "serve"), ScriptedNode(tmp_path, 2, "refuse")]
    assert run(nodes) == 1
    captured = capfd.readouterr()
    assert captured.err == (
        "pykbroker cluster: node 2 did not start: it ended with exit code 1: the port is taken\n"
    )
    assert captured.out == ""
    assert not any(node.is_running for node in nodes)


def test_a_node_that_dies(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The others run on until they are told to stop; the exit code remembers it."""
    nodes = serving(tmp_path, 3)
    seen = [""]

    def printed(text: str) -> Callable[[], bool]:
        def look() -> bool:
            captured = capfd.readouterr()
            seen[0] += captured.out + captured.err
            return text in seen[0]

        return look

    code = run(
        nodes,
        (printed("ready nodes\n"), nodes[1].kill),
        (printed("node 2"), signalling(signal.SIGTERM)),
    )
    assert code == 1
    assert seen[0].split("\n", 1)[1] == (
        "pykbroker cluster: node 2 was killed by SIGKILL. The others run on; to start it again: "
        f"{shlex.join(nodes[1].command())}\n"
    )
    assert journal(tmp_path)[0] == "3 SIGTERM"


def test_all_nodes_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([ScriptedNode(tmp_path, 1, "end")]) == 0
    assert "No node is left; to start it again" in capfd.readouterr().err
    assert run([ScriptedNode(tmp_path, 1, "fail")]) == 1
    assert "node 1 ended with exit code 1: the disk is gone. No nod" in capfd.readouterr().err


def test_a_signal_during_the_start(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    nodes = serving(tmp_path, 2)
    nodes[1].ready = asyncio.Future  # type: ignore[method-assign,assignment]
    assert run(nodes, (lambda: nodes[1].is_running, signalling(signal.SIGTERM))) == 0
    assert capfd.readouterr() == ("", "")
    assert not any(node.is_running for node in nodes)


def test_a_slow_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the nodes that are not ready logged last is reported, once."""
    monkeypatch.setattr(cluster_nodes, "SLOW_START_S", 0.05)
    nodes = serving(tmp_path, 2)
    nodes[1].ready = asyncio.Future  # type: ignore[method-assign,assignment]
    Path(nodes[1].log).write_text("INFO first\nINFO no quorum\n")
    printed = [""]

    def is_reported() -> bool:
        printed[0] += capfd.readouterr().err
        return "node 2" in printed[0]

    assert run(nodes, (is_reported, signalling(signal.SIGTERM))) == 0
    printed[0] += capfd.readouterr().err
    # Node 1 may be slower than this, too.
    assert printed[0].splitlines()[-1] == (
        "pykbroker cluster: still waiting for node 2, which logged last: INFO no quorum"
    )


def test_further_signals_are_handed_on(tmp_path: Path, is_ready: Callable[[], bool]) -> None:
    """The second has the nodes hurry, the third kills those that do not."""
    nodes = [ScriptedNode(tmp_path, number, "stubborn") for number in (1, 2, 3)]

    def told(*lines: str) -> Callable[[], bool]:
        return lambda: set(lines) <= set(journal(tmp_path))

    code = run(
        nodes,
        (is_ready, signalling(signal.SIGINT)),
        (told("3 SIGTERM"), signalling(signal.SIGINT)),
        (told("1 SIGINT", "2 SIGINT", "3 SIGINT"), signalling(signal.SIGINT)),
    )
    assert code == 1
    assert not any(node.is_running for node in nodes)


def test_a_node_that_does_not_stop(
    tmp_path: Path,
    is_ready: Callable[[], bool],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cluster_nodes, "STOP_TIMEOUT_S", 0.5)
    node = ScriptedNode(tmp_path, 1, "stubborn")
    assert run([node], (is_ready, signalling(signal.SIGTERM))) == 1
    assert capfd.readouterr().err == (
        "pykbroker cluster: node 1 did not stop in time and was killed\n"
    )
