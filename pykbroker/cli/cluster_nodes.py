"""The nodes of `pykbroker cluster` from their start to their end.

    launch all --> all are ready --> watch --> a signal, or none is left --> stop in order
          a signal, or one does not start -----------------------------------^

In: SIGTERM, SIGINT or SIGHUP stops them; a second one does so without waiting for a controller; a
third kills them. Out: the ready line on standard output, an exit code; on standard error the nodes
that a slow start waits for, and those that did not start, died or had to be killed.
Invariants: no node is left when `run` returns.
"""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from pykbroker.cli.node_process import NodeProcess, last_line

SLOW_START_S: Final = 4.0
STOP_TIMEOUT_S: Final = 60.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Of a node that was told to stop: also when it was not far enough to catch the signal.
_STOPPED: Final = (0, -signal.SIGTERM, -signal.SIGINT)
# What a node logs last when one of its ports is in use, or not permitted to this user.
_NOT_BOUND: Final = "Socket server failed to bind to"


class ClusterNodes:
    """Starts the nodes, watches them, and stops them."""

    def __init__(
        self, nodes: Sequence[NodeProcess], ready_line: str, environment: Mapping[str, str]
    ) -> None:
        self._nodes = nodes
        self._ready_line = ready_line
        self._environment = environment
        self._signals = 0
        self._failed = False

    async def run(self) -> int:
        """Return 1 if a node did not start, ended with an error or had to be killed, else 0."""
        loop = asyncio.get_running_loop()
        self._signalled: asyncio.Future[None] = loop.create_future()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._on_signal)
        self._ends: dict[asyncio.Task[int], NodeProcess] = {}
        try:
            for node in self._nodes:
                await node.launch(self._environment)
                self._ends[asyncio.create_task(node.ended())] = node
            if await self._become_ready():
                _print(self._ready_line)
                await self._watch()
        finally:
            await self._stop()
        return 1 if self._failed else 0

    def _on_signal(self) -> None:
        self._signals += 1
        if not self._signalled.done():
            self._signalled.set_result(None)
        elif self._signals == 2:
            for node in self._nodes:
                node.hasten()
        else:
            for node in self._nodes:
                node.kill()

    async def _become_ready(self) -> bool:
        """Return False if a node failed, or a signal came, before all were ready.

        A node that was ready and has ended since is for `_watch` to report.
        """
        starts = {node: asyncio.ensure_future(node.ready()) for node in self._nodes}
        ready = asyncio.gather(*starts.values())
        failed: list[NodeProcess] = []
        reminder = asyncio.create_task(_report_slow_start(starts))
        while not (ready.done() or failed or self._signalled.done()):
            await _first(ready, self._signalled, *(end for end in self._ends if not end.done()))
            for node, start in starts.items():
                # A node that has ended has closed its output, and the reverse.
                if (not node.is_running or start.done()) and not await start:
                    await node.ended()
                    failed.append(node)
        reminder.cancel()
        for node in failed:
            if not self._signalled.done():
                ending = node.ending()
                advice = ". Choose other ports with --base-port" if _NOT_BOUND in ending else ""
                self._report(f"node {node.id} did not start: it {ending.rstrip('.')}{advice}")
        return ready.done() and not failed and not self._signalled.done()

    async def _watch(self) -> None:
        """Wait until a signal comes or no node is left."""
        while self._ends:
            await _first(self._signalled, *self._ends)
            if self._signalled.done():
                return
            for task in [task for task in self._ends if task.done()]:
                node = self._ends.pop(task)
                self._report(
                    f"node {node.id} {node.ending()}. "
                    + ("The others run on; to" if self._ends else "No node is left; to")
                    + f" start it again: {shlex.join(node.command())}",
                    is_failure=task.result() != 0,
                )

    async def _stop(self) -> None:
        """Brokers without a controller first, then voters, so that there is a quorum to hand
        leaderships over to for as long as can be."""
        voters = sum(node.is_voter for node in self._nodes)
        for node in sorted(self._nodes, key=lambda each: (each.is_voter, -each.id)):
            if not node.is_running:
                continue
            left = sum(each.is_voter and each.is_running for each in self._nodes)
            if self._signals > 1 or left <= voters // 2:
                node.hasten()
            else:
                node.terminate()
            try:
                code = await asyncio.wait_for(node.ended(), STOP_TIMEOUT_S)
            except TimeoutError:
                node.kill()
                await node.ended()
                self._report(f"node {node.id} did not stop in time and was killed")
            else:
                if code not in _STOPPED:
                    self._report(f"node {node.id} {node.ending()}")

    def _report(self, what: str, *, is_failure: bool = True) -> None:
        self._failed = self._failed or is_failure
        print(f"pykbroker cluster: {what}", file=sys.stderr, flush=True)


async def _report_slow_start(starts: Mapping[NodeProcess, asyncio.Future[bool]]) -> None:
    """Print which nodes are not ready after a while, and what each of them logged last."""
    await asyncio.sleep(SLOW_START_S)
    for node, start in starts.items():
        if not start.done():
            waiting = f"still waiting for node {node.id}, which logged last: {last_line(node.log)}"
            print(f"pykbroker cluster: {waiting}", file=sys.stderr, flush=True)


async def _first(*awaitables: Awaitable[Any]) -> None:
    """Wait until one of them is done."""
    futures = [asyncio.ensure_future(each) for each in awaitables]
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


def _print(line: str) -> None:
    try:
        print(line, flush=True)
    except OSError:
        print("pykbroker cluster: nobody reads standard output", file=sys.stderr)
