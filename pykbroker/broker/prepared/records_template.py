"""The bytes of a response that contains records: encoded once, then patched.

    piece | size records | piece | size records | piece        each piece with its numbers

State   the pieces as the general encoder writes them, and the positions of the numbers in each.
In      one encoded sample, in which numbers and records are marks (`marks.py`).
Out     frames: byte for byte what the encoder would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct

from pykbroker.broker.prepared import CORRELATION_ID_AT
from pykbroker.broker.prepared.marks import MARK_BYTES, encoded_mark, marks, positions_of
from pykbroker.environment.files import Buffer
from pykbroker.protocol.api import Api
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import Message

_i32 = Struct(">i")
_put_i32 = _i32.pack_into
_pack_i32 = _i32.pack
_put_i64 = Struct(">q").pack_into

AnswerOf = Callable[[Sequence[int], Sequence[bytes]], Message]
"""Makes an answer of numbers and records."""


class RecordsTemplate:
    """A response with records in `count` places, and `each` 64-bit numbers per place."""

    __slots__ = ("_is_flexible", "_pieces", "_positions")

    def __init__(self, api: Api, version: int, each: int, count: int, answer: AnswerOf) -> None:
        """The numbers of a place are encoded in this order, before its records; this version may
        leave out some of them.
        """
        self._is_flexible = version >= api.flexible_from
        numbers = marks(each * count)
        records = marks(count, after=numbers)
        out: Parts = []
        message = answer(numbers, [encoded_mark(mark) for mark in records])
        encode_response(api, version, 0, message, out)
        sample = join_parts(out)
        size_bytes = 1 if self._is_flexible else _i32.size
        cuts = [position for position, _ in positions_of(records, sample)]
        starts = [0, *(cut + MARK_BYTES for cut in cuts)]
        ends = [*(cut - size_bytes for cut in cuts), len(sample)]
        self._pieces = [sample[start:end] for start, end in zip(starts, ends, strict=True)]
        self._positions: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for position, number in positions_of(numbers, sample):
            piece = number // each
            self._positions[piece].append((position - starts[piece], number))

    def frame(
        self, correlation_id: int, numbers: Sequence[int], found: Sequence[Buffer]
    ) -> bytearray:
        """Return the framed response to a request."""
        pieces = self._pieces
        frame = bytearray(pieces[0])
        base = 0
        for at, records in enumerate(found):
            for position, number in self._positions[at]:
                _put_i64(frame, base + position, numbers[number])
            size = len(records)
            frame += _varint(size + 1) if self._is_flexible else _pack_i32(size)
            frame += records
            base = len(frame)
            frame += pieces[at + 1]
        _put_i32(frame, 0, len(frame) - 4)
        _put_i32(frame, CORRELATION_ID_AT, correlation_id)
        return frame


def _varint(number: int) -> bytes:
    """Encode an unsigned varint."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
