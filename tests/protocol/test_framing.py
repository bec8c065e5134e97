"""Lengths that a frame may have."""

from __future__ import annotations

import struct

import pytest

from pykbroker.protocol.framing import FrameError, check_length


@pytest.mark.parametrize("size", [1, 99, 100])
def test_lengths_up_to_the_limit(size: int) -> None:
    assert check_length(size, 100) == size


@pytest.mark.parametrize("size", [0, -1, -(2**31), 101])
def test_impossible_lengths(size: int) -> None:
    with pytest.raises(FrameError, match="invalid frame of"):
        check_length(size, 100)


def test_strangers_are_named() -> None:
    for start, name in (
        (b"\x16\x03\x01\x02", "TLS"),
        (b"GET ", "HTTP"),
        (b"POST", "HTTP"),
        (b"PRI ", "HTTP"),
    ):
        with pytest.raises(FrameError, match=name):
            check_length(struct.unpack(">i", start)[0], 1000)
