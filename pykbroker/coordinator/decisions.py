"""The decision of a coordinator's machine: a `Decision` that the log may refuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pykbroker.decision import CoordinatorRecord, Decision


@dataclass(slots=True)
class ShardDecision(Decision[CoordinatorRecord]):
    """A decision, and how to take back the volatile part when the log refuses the records.

    undo(code, now_ms): a decision without records; None: there is nothing to take back.
    """

    undo: Callable[[int, int], ShardDecision] | None = None
