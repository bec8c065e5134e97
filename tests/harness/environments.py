"""The real environment with a clock of the test's own, and coroutines of drivers that run in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from time import monotonic_ns
from types import SimpleNamespace
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.environment import Environment
from pykbroker.environment.real.scheduler import in_asyncio
from pykbroker.environment.real.world import real_environment

TIMEOUT_SECONDS = 120


def environment_at(
    now_ms: Callable[[], int], wall_ms: Callable[[], int] | None = None
) -> Environment:
    """Of the running event loop; the clocks say what the test says."""
    clock: Any = SimpleNamespace(
        now_ms=now_ms, wall_ms=wall_ms or now_ms, monotonic_ns=monotonic_ns
    )
    return replace(real_environment(asyncio.get_running_loop()), clock=clock)


def run(script: Callable[[], Coroutine[Deferred, Any, Any]]) -> Any:
    """Run a coroutine that awaits Deferreds on an event loop of its own."""

    async def main() -> Any:
        return await asyncio.wait_for(in_asyncio(script()), TIMEOUT_SECONDS)

    return asyncio.run(main())
