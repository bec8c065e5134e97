"""The decision of a coordinator's machine: a `Decision` whose records the log may reject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykbroker.decision import CoordinatorRecord, Decision
from pykbroker.protocol.record_batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

if TYPE_CHECKING:
    from pykbroker.log.producers.verification import VerificationGuard


@dataclass(slots=True)
class ShardDecision(Decision[CoordinatorRecord]):
    """A decision, and how to undo the volatile part if the records cannot be written.

    undo(code, now_ms): returns a decision without records; None if there is nothing to undo.
    producer_id, producer_epoch: the records are part of this producer's transaction, in one batch.
    guard: the verification of that transaction; see `log/producers/verification.py`.
    """

    undo: Callable[[int, int], ShardDecision] | None = None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    guard: VerificationGuard | None = None
