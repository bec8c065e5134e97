"""The records that every client sends and must read back unchanged."""

from __future__ import annotations

from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BASE_TIMESTAMP_MS = 1_700_000_000_000


class Sample(NamedTuple):
    """One record: bytes or null, headers in order, the producer's own time."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    timestamp_ms: int


def samples(count: int = 60) -> list[Sample]:
    """`count` records that differ in keys, nulls, sizes, headers and times."""
    records = []
    for n in range(count):
        key = None if n % 5 == 0 else f"key-{n % 7}".encode()
        value = None if n % 11 == 10 and key else (f"value-{n}-" + "x" * (n * 37 % 900)).encode()
        if n % 13 == 12:
            value = b""
        headers = [(f"h{i}", bytes([i]) * i) for i in range(n % 4)]
        records.append(Sample(key, value, headers, BASE_TIMESTAMP_MS + n * 1000))
    return records
