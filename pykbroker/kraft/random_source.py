"""Randomness as the machines see it: injected, so that a seed repeats what they do."""

from __future__ import annotations

from typing import Any, Protocol


class RandomSource(Protocol):
    """What is used of `random.Random`."""

    def randrange(self, stop: int, /) -> int:
        """A number from 0 to `stop` - 1."""

    def shuffle(self, x: Any, /) -> None:
        """Put a list in another order, in place."""
