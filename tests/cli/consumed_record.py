"""A record as kafka-python returns it, for tests of the printed output."""

from __future__ import annotations

from typing import NamedTuple


class Consumed(NamedTuple):
    """The fields that are printed."""

    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: tuple[tuple[str, bytes | None], ...] = ()
    topic: str = "orders"
    partition: int = 1
    offset: int = 7
    timestamp: int | None = 1_600_000_000_123
    timestamp_type: int | None = 0
