"""Parts: what is copied, what is not, and how large it all is."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.parts_writer import (
    SMALL_PART_BYTES,
    join_parts,
    open_tail,
    part_size,
    parts_size,
    put_part,
)


class Elsewhere:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def part_size(self) -> int:
        return len(self.content)

    def read(self) -> bytes:
        return self.content


def test_sizes() -> None:
    parts: list[Any] = [b"ab", bytearray(b"c"), memoryview(b"defg")[1:], Elsewhere(b"hi")]
    assert [part_size(part) for part in parts] == [2, 1, 3, 2]
    assert parts_size(parts) == 8
    assert join_parts(parts) == b"abcefghi"


def test_open_tail_goes_on_with_the_bytearray_at_the_end() -> None:
    out: list[Any] = []
    tail = open_tail(out)
    assert open_tail(out) is tail
    out.append(b"bytes are never appended to")
    assert open_tail(out) is not tail
    assert len(out) == 3


def test_small_parts_are_copied_and_large_ones_are_not() -> None:
    out: list[Any] = []
    tail = open_tail(out)
    assert put_part(out, tail, b"x" * (SMALL_PART_BYTES - 1), SMALL_PART_BYTES - 1) is tail
    large = b"y" * SMALL_PART_BYTES
    after = put_part(out, tail, large, len(large))
    assert after is not tail
    assert out[1] is large
    assert out[2] is after


def test_foreign_parts_are_never_copied_but_empty_ones_vanish() -> None:
    out: list[Any] = []
    tail = open_tail(out)
    assert put_part(out, tail, Elsewhere(b""), 0) is tail
    part = Elsewhere(b"1")
    put_part(out, tail, part, 1)
    assert out[1] is part
