"""The bytes of a response in which only some numbers change: encoded once, then patched.

State   the frame as the general encoder writes it, and the positions of the numbers.
In      one encoded sample, in which each number is a mark that is found again.
Out     frames: byte for byte what the encoder would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct

from pykbroker.broker.prepared import CORRELATION_ID_AT
from pykbroker.protocol.api import Api
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

FIRST_MARK = 0x7A_F8_C1_FF_9B_00_00_00
"""The marks are no text in UTF-8, and no numbers that responses have otherwise."""

_put_i32 = Struct(">i").pack_into
_i64 = Struct(">q")
_put_i64 = _i64.pack_into


class ReplyTemplate:
    """A response with `count` 64-bit numbers; see the module."""

    __slots__ = ("_positions", "_sample")

    def __init__(
        self, api: Api, version: int, count: int, answer: Callable[[Sequence[int]], Message]
    ) -> None:
        """answer: makes the answer with these numbers, which are encoded in this order. This
        version may leave out some of them.
        """
        marks = range(FIRST_MARK, FIRST_MARK + count)
        out: Parts = []
        encode_response(api, version, 0, answer(marks), out)
        self._sample = join_parts(out)
        self._positions: list[tuple[int, int]] = []
        behind = 0
        for number, mark in enumerate(marks):
            position = self._sample.find(_i64.pack(mark), behind)
            if position >= 0:
                self._positions.append((position, number))
                behind = position + _i64.size

    def frame(self, correlation_id: int, numbers: Sequence[int]) -> bytearray:
        """Return the framed response to a request."""
        frame = bytearray(self._sample)
        _put_i32(frame, CORRELATION_ID_AT, correlation_id)
        for position, number in self._positions:
            _put_i64(frame, position, numbers[number])
        return frame
