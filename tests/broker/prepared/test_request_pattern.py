"""Which bytes are those of a request like one before."""

from __future__ import annotations

import pytest

from pykbroker.broker.prepared import HEAD_BYTES
from pykbroker.broker.prepared.request_pattern import RequestPattern

FRAME = b"key corrbody 12345678 more 12345678"
PLACES = (FRAME.index(b"12345678"), FRAME.rindex(b"12345678"))


def found(pattern: RequestPattern, frame: bytes) -> bool:
    padded = b"before" + frame + b"behind"
    return pattern.matches(padded, 6, 6 + len(frame))


@pytest.mark.parametrize("places", [(), PLACES], ids=["no numbers", "numbers"])
def test_every_byte_counts_but_the_correlation_id_and_the_numbers(places: tuple[int, ...]) -> None:
    pattern = RequestPattern(FRAME, places, 8)
    free = {*range(HEAD_BYTES)}
    free.update(at + byte for at in places for byte in range(8))
    for at in range(len(FRAME)):
        other = FRAME[:at] + b"?" + FRAME[at + 1 :]
        assert found(pattern, other) == (at in free)


def test_the_length_counts() -> None:
    pattern = RequestPattern(FRAME)
    assert found(pattern, FRAME)
    assert not found(pattern, FRAME + b"!")
    assert not found(pattern, FRAME[:-1])
    assert not found(RequestPattern(FRAME, PLACES, 8), FRAME[:-1])
