"""Randomness that a seed decides: for a process of a world (`environment/randomness.py`), and dice
for the world itself."""

from __future__ import annotations

import random
from typing import Any

_DASH = 62  # the six bits that Kafka's base64 writes as `-`


class Dice(random.Random):
    """A separate stream of random numbers per purpose, so that a new purpose changes no other."""

    def __init__(self, seed: int, purpose: str) -> None:
        super().__init__(f"{seed}/{purpose}")

    def one_in(self, count: int) -> bool:
        """Return True once in `count` times, on average."""
        return self.randrange(count) == 0


class SeededSource:
    """See `RandomSource`."""

    __slots__ = ("_dice", "shuffle")

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.shuffle = dice.shuffle

    def randrange(self, start: int, stop: int | None = None) -> int:
        """See `RandomSource`."""
        return self._dice.randrange(start, stop)

    def new_uuid(self) -> bytes:
        """See `RandomSource`."""
        while True:
            raw = bytearray(self._dice.randbytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            if raw[0] >> 2 != _DASH:
                return bytes(raw)


def pick(dice: random.Random, weights: dict[str, int]) -> str:
    """Return one of the names, as often as its weight says."""
    names: list[Any] = list(weights)
    chosen: str = dice.choices(names, list(weights.values()))[0]
    return chosen
