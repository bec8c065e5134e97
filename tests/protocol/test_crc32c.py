"""pykbroker.protocol.crc32c against crcmod and the test vectors of RFC 3720."""

from __future__ import annotations

import importlib
import sys

import pytest
from crcmod.predefined import mkPredefinedCrcFun
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.protocol import crc32c as module
from pykbroker.protocol.crc32c import crc32c

independent = mkPredefinedCrcFun("crc-32c")


@pytest.mark.parametrize(
    "payload, crc",
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"", 0),
    ],
)
def test_known_vectors(payload: bytes, crc: int) -> None:
    assert crc32c(payload) == crc


@given(st.binary(max_size=300), st.integers(0, 300))
def test_equals_crcmod_and_continues(payload: bytes, cut: int) -> None:
    assert crc32c(payload) == independent(payload)
    assert crc32c(payload[cut:], crc32c(payload[:cut])) == crc32c(payload)


def test_takes_every_bytes_like_object_without_copying() -> None:
    payload = bytearray(b"xx123456789")
    assert crc32c(memoryview(payload)[2:]) == 0xE3069283
    assert crc32c(payload[2:]) == 0xE3069283


def test_crcmod_takes_over_where_the_fast_package_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "crc32c", None)  # as if it were not installed
    try:
        fallback = importlib.reload(module)
        assert fallback.IMPLEMENTATION == "crcmod"
        assert fallback.crc32c(memoryview(bytearray(b"123456789"))) == 0xE3069283
    finally:
        monkeypatch.undo()
        assert importlib.reload(module).IMPLEMENTATION == "crc32c"
