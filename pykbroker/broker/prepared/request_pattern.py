"""The bytes of one request, with places where others like it may have other numbers.

    API, version | correlation id | the same | numbers | the same | numbers | the same

State   the pieces that stay the same, and where each begins in a request.
In      a request that the general path has served; where its numbers are.
Out     whether the bytes of another request are the same, apart from correlation id and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

BEHIND_CORRELATION_ID = 8


class RequestPattern:
    """See the module."""

    __slots__ = ("_pieces", "_size")

    def __init__(
        self, frame: bytes | memoryview, places: Sequence[int] = (), number_bytes: int = 0
    ) -> None:
        """places: where the numbers begin, in order; all have `number_bytes`."""
        starts = [BEHIND_CORRELATION_ID, *(place + number_bytes for place in places)]
        ends = [*places, len(frame)]
        self._size = len(frame)
        self._pieces = [
            (bytes(frame[start:end]), start) for start, end in zip(starts, ends, strict=True)
        ]

    def matches(self, frame: bytes | bytearray, start: int, end: int) -> bool:
        """Whether the request that lies in `frame` from `start` to `end` is one like this."""
        if end - start != self._size:
            return False
        for piece, at in self._pieces:  # noqa: SIM110 (a generator costs more)
            if not frame.startswith(piece, start + at):
                return False
        return True
