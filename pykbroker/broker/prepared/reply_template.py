"""The bytes of a response in which only some numbers change: encoded once, then patched.

State   the frame as the general encoder writes it, and the positions of the numbers.
In      one encoded sample, in which each number is a mark (`marks.py`).
Out     frames: byte for byte what the encoder would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct

from pykbroker.broker.prepared import CORRELATION_ID_AT
from pykbroker.broker.prepared.marks import marks, positions_of
from pykbroker.protocol.api import Api
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

_put_i32 = Struct(">i").pack_into
_put_i64 = Struct(">q").pack_into


class ReplyTemplate:
    """A response with `count` 64-bit numbers; see the module."""

    __slots__ = ("_positions", "_sample")

    def __init__(
        self, api: Api, version: int, count: int, answer: Callable[[Sequence[int]], Message]
    ) -> None:
        """answer: makes the answer with these numbers, which are encoded in this order. This
        version may leave out some of them.
        """
        numbers = marks(count)
        out: Parts = []
        encode_response(api, version, 0, answer(numbers), out)
        self._sample = join_parts(out)
        self._positions = positions_of(numbers, self._sample)

    def frame(self, correlation_id: int, numbers: Sequence[int]) -> bytearray:
        """Return the framed response to a request."""
        frame = bytearray(self._sample)
        _put_i32(frame, CORRELATION_ID_AT, correlation_id)
        for position, number in self._positions:
            _put_i64(frame, position, numbers[number])
        return frame
