"""The bytes of a request, with numbers that may be other ones in later requests.

    API, version | correlation id | same | numbers | same | numbers | same

State   the pieces that do not change, and where each begins in a request.
In      a request that the general path has served, and the positions of its numbers.
Out     whether another request of this API and version has the same bytes, apart from its
        correlation id and numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.broker.prepared import HEAD_BYTES


class RequestPattern:
    """The bytes that a request shares with later ones."""

    __slots__ = ("_pieces", "_size")

    def __init__(
        self, frame: bytes | memoryview, positions: Sequence[int] = (), number_bytes: int = 0
    ) -> None:
        """positions: ascending, of the numbers, each of `number_bytes` bytes."""
        starts = [HEAD_BYTES, *(position + number_bytes for position in positions)]
        ends = [*positions, len(frame)]
        self._size = len(frame)
        self._pieces = [
            (bytes(frame[start:end]), start) for start, end in zip(starts, ends, strict=True)
        ]

    def matches(self, frame: bytes | bytearray, start: int, end: int) -> bool:
        """Return whether the request in `frame` from `start` to `end` fits the pattern."""
        if end - start != self._size:
            return False
        for piece, at in self._pieces:  # noqa: SIM110 (a generator costs more)
            if not frame.startswith(piece, start + at):
                return False
        return True
