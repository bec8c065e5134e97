"""The bytes of a response in which only some numbers change: encoded once, then patched.

State   the frame as the general encoder writes it, and the positions of the numbers.
In      an encoding of sample responses, which differ in one of the numbers each.
Out     frames: byte for byte what the encoder would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct

from pykbroker.protocol.api import Api
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

_put_i32 = Struct(">i").pack_into
_put_i64 = Struct(">q").pack_into

CORRELATION_ID_AT = 4


class ReplyTemplate:
    """A response with `count` 64-bit numbers; see the module."""

    __slots__ = ("_places", "_sample")

    def __init__(
        self, api: Api, version: int, count: int, answer: Callable[[Sequence[int]], Message]
    ) -> None:
        """answer: makes the answer with these numbers. This version may leave out some of them."""

        def encoded(numbers: Sequence[int]) -> bytes:
            out: Parts = []
            encode_response(api, version, 0, answer(numbers), out)
            return join_parts(out)

        self._sample = encoded([0] * count)
        self._places: list[tuple[int, int]] = []
        for number in range(count):
            other = encoded([-1 if at == number else 0 for at in range(count)])
            if other != self._sample:
                pairs = zip(self._sample, other, strict=True)
                place = next(at for at, (one, two) in enumerate(pairs) if one != two)
                self._places.append((place, number))

    def frame(self, correlation_id: int, numbers: Sequence[int]) -> bytearray:
        """Return the framed response to a request."""
        frame = bytearray(self._sample)
        _put_i32(frame, CORRELATION_ID_AT, correlation_id)
        for place, number in self._places:
            _put_i64(frame, place, numbers[number])
        return frame
