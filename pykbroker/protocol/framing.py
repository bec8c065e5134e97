"""Frames in a byte stream: how long one may be.

::

    +----------------+---------------------------+
    | length: int32  | length bytes: one message |
    +----------------+---------------------------+

In: a length. Out: the length, or a `FrameError` for one that is negative, zero or above the limit:
the connection must close, often because the peer does not speak Kafka.
"""

from __future__ import annotations

from pykbroker.protocol.primitives import ProtocolError

LENGTH_BYTES = 4

_HTTP_METHODS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")


class FrameError(ProtocolError):
    """A frame length that is negative, zero or above the limit."""


def check_length(size: int, max_bytes: int, limit: str = "the limit") -> int:
    """Return `size` if a frame may have this length; `limit` names `max_bytes` in the error."""
    if 0 < size <= max_bytes:
        return size
    raise FrameError(f"invalid frame of {size} bytes{_guess(size)}, {limit} is {max_bytes}")


def _guess(size: int) -> str:
    """Return a hint if the size is the start of a TLS handshake or an HTTP request; else ""."""
    start = (size & 0xFFFFFFFF).to_bytes(4, "big")
    if start[:2] == b"\x16\x03":
        return " (it looks like a TLS handshake)"
    if start in _HTTP_METHODS:
        return " (it looks like HTTP)"
    return ""
