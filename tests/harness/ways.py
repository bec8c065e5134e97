"""How many similar cases are tested: one of each kind, or all.

PYKBROKER_ALL_WAYS=1 runs every combination; without it those are left out that cost much and have
found nothing that the others did not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

WayT = TypeVar("WayT")

ALL_WAYS = bool(os.environ.get("PYKBROKER_ALL_WAYS"))


def ways(usual: Sequence[WayT], others: Sequence[WayT]) -> list[WayT]:
    """The usual ones; with PYKBROKER_ALL_WAYS the others, too."""
    return [*usual, *(others if ALL_WAYS else ())]
