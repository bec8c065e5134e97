"""Randomness of a running node, from the operating system.

Used instead of `random.SystemRandom` and `uuid`, whose imports would delay every start. It is
injected into machines (`environment/randomness.py`); tests inject a seeded source.
"""

from __future__ import annotations

import os
from collections.abc import MutableSequence
from typing import Any

_DASH = 62  # the six bits that Kafka's base64 writes as `-`


class Entropy:
    """Random choices; for ranges of up to 2**32 the bias of the modulo is below 2**-32."""

    def randrange(self, start: int, stop: int | None = None) -> int:
        """Return a number from `start` (0 if only one bound is given) up to the
        bound, exclusive.
        """
        if stop is None:
            start, stop = 0, start
        return start + int.from_bytes(os.urandom(8)) % (stop - start)

    def shuffle(self, sequence: MutableSequence[Any]) -> None:
        """Shuffle a list in place (Fisher and Yates)."""
        for at in range(len(sequence) - 1, 0, -1):
            other = self.randrange(at + 1)
            sequence[at], sequence[other] = sequence[other], sequence[at]

    def new_uuid(self) -> bytes:
        """Return a random UUID (version 4) whose text form does not begin with a
        dash, as in Kafka.
        """
        while True:
            raw = bytearray(os.urandom(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            if raw[0] >> 2 != _DASH:
                return bytes(raw)
