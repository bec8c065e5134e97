"""Cutting frames out of a stream."""

from __future__ import annotations

import pytest

from pykbroker.protocol.framing import FrameError, check_length, cut_frames, frame_length


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


def test_cut_frames_takes_the_whole_ones() -> None:
    wire = memoryview(b"\0\0\0\x01a\0\0\0\x02bc\0\0\0\x03d")
    frames, pos = cut_frames(wire, 0, 10)
    assert [bytes(frame) for frame in frames] == [b"a", b"bc"]
    assert bytes(wire[pos:]) == b"\0\0\0\x03d"
    assert cut_frames(wire[:3], 0, 10) == ([], 0)
    assert frames[0].obj is wire.obj


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_cut_frames_is_the_same_however_the_bytes_arrive(step: int) -> None:
    wire = b"".join(bytes([0, 0, 0, n]) + bytes([n]) * n for n in range(1, 20))
    seen: list[bytes] = []
    held = b""
    for start in range(0, len(wire), step):
        held += wire[start : start + step]
        frames, pos = cut_frames(memoryview(held), 0, 100)
        seen += [bytes(frame) for frame in frames]
        held = held[pos:]
    assert seen == [bytes([n]) * n for n in range(1, 20)]
    assert held == b""
