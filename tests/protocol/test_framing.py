"""Cutting frames out of a stream."""

from __future__ import annotations

import pytest

from pykbroker.protocol.framing import FrameError, check_length, frame_length


def test_frame_length_needs_four_bytes() -> None:
    assert frame_length(b"\0\0\0", 0, 100) == -1
    assert frame_length(b"\0\0\0\x05", 0, 100) == 5
    assert frame_length(b"..\0\0\0\x64", 2, 100) == 100


@pytest.mark.parametrize("wire", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x65"])
def test_impossible_lengths(wire: bytes) -> None:
    with pytest.raises(FrameError, match="invalid frame of"):
        frame_length(wire, 0, 100)


def test_strangers_are_named() -> None:
    with pytest.raises(FrameError, match="TLS"):
        frame_length(b"\x16\x03\x01\x02\x00", 0, 1000)
    for text in (b"GET / HTTP/1.1", b"POST /x", b"PRI * HTTP/2.0"):
        with pytest.raises(FrameError, match="HTTP"):
            frame_length(text, 0, 1000)
    assert check_length(7, 7) == 7
