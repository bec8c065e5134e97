"""The bytes of a response that contains records: encoded once, then patched.

    piece | size records | piece | size records | piece        each piece with its numbers

State   the pieces as the general encoder writes them, and the positions of the numbers in each.
In      an encoding of sample responses, which differ in one number or in the records of one place.
Out     frames: byte for byte what the encoder would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct

from pykbroker.broker.prepared import CORRELATION_ID_AT
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
        def encoded(number: int, records: int) -> bytes:
            """Encode with -1 for that number, and one byte for these records (-1: none)."""
            out: Parts = []
            numbers = [-1 if at == number else 0 for at in range(each * count)]
            contents = [b"x" if at == records else b"" for at in range(count)]
            encode_response(api, version, 0, answer(numbers, contents), out)
            return join_parts(out)

        sample = encoded(-1, -1)
        self._is_flexible = version >= api.flexible_from
        cuts = []
        for records in range(count):
            differs = _first_difference(sample, encoded(-1, records))
            cuts.append((differs, differs + 1) if self._is_flexible else (differs - 3, differs + 1))
        starts = [0, *(after for _, after in cuts)]
        self._pieces = [
            sample[start:end]
            for start, end in zip(starts, [*(at for at, _ in cuts), len(sample)], strict=True)
        ]
        self._positions: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for number in range(each * count):
            other = encoded(number, -1)
            if other != sample:
                position = _first_difference(sample, other)
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


def _first_difference(one: bytes, other: bytes) -> int:
    """Return where two frames first differ, apart from their lengths."""
    pairs = enumerate(zip(one, other, strict=False))
    return next(at for at, (left, right) in pairs if left != right and at >= CORRELATION_ID_AT)


def _varint(number: int) -> bytes:
    """Encode an unsigned varint."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
