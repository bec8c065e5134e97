"""Waiting for an effect of another process or thread that it does not announce."""

from __future__ import annotations

import time
from collections.abc import Callable

PAUSE_SECONDS = 0.05


def wait_for(condition: Callable[[], object], what: str, timeout_s: float = 120) -> None:
    """Look again and again until `condition` holds; AssertionError names `what` did not come."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(PAUSE_SECONDS)
