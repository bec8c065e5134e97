"""Randomness and identifiers, injected so that a seed reproduces a node's behaviour."""

from __future__ import annotations

from typing import Any, Protocol


class RandomSource(Protocol):
    """Random choices and random identifiers."""

    def randrange(self, start: int, stop: int | None = None, /) -> int:
        """Return a number from `start` (0 if only one bound is given) up to the
        bound, exclusive.
        """

    def shuffle(self, x: Any, /) -> None:
        """Reorder a list in place."""

    def new_uuid(self) -> bytes:
        """Return the 16 bytes of a random UUID whose text form does not begin
        with a dash, as in Kafka.
        """
