"""Frames in a byte stream: how long the next one is.

::

    +----------------+---------------------------+
    | length: int32  | length bytes: one message |
    +----------------+---------------------------+

In: a buffer and a position. Out: the length. One that is negative, zero or above the limit is a
`FrameError`: the peer does not speak Kafka, its connection must close.
"""

from __future__ import annotations

import struct

from pykbroker.protocol.primitives import ProtocolError

LENGTH_BYTES = 4

_unpack_length = struct.Struct(">i").unpack_from
_HTTP_METHODS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")


class FrameError(ProtocolError):
    """A frame length that no Kafka client sends."""


def check_length(size: int, max_bytes: int) -> int:
    """`size` itself if it is a length a frame may have."""
    if 0 < size <= max_bytes:
        return size
    raise FrameError(f"invalid frame of {size} bytes{_guess(size)}, the limit is {max_bytes}")


def frame_length(buf: bytes | bytearray | memoryview, pos: int, max_bytes: int) -> int:
    """The length of the frame at `pos`, or -1 while its four bytes are not all there."""
    if len(buf) - pos < LENGTH_BYTES:
        return -1
    size: int = _unpack_length(buf, pos)[0]
    if 0 < size <= max_bytes:
        return size
    return check_length(size, max_bytes)


def _guess(size: int) -> str:
    """Name the two strangers that a broker's port meets most often."""
    start = (size & 0xFFFFFFFF).to_bytes(4, "big")
    if start[:2] == b"\x16\x03":
        return " (it looks like a TLS handshake)"
    if start in _HTTP_METHODS:
        return " (it looks like HTTP)"
    return ""
