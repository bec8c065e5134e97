"""AbortTransactionRecord (record 25, versions 0-0).

Generated from schemas/metadata/abort_transaction_record.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_uvarint,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__


class AbortTransactionRecord(Message):
    __slots__ = (
        "reason",
        "unknown_tags",
    )

    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        reason: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.reason = reason
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AbortTransactionRecord", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            o.reason = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_AbortTransactionRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AbortTransactionRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AbortTransactionRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AbortTransactionRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.reason is not None or o.unknown_tags:
                _put_tags_AbortTransactionRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AbortTransactionRecord v{version}: {error}") from error


def _tags_AbortTransactionRecord(o: AbortTransactionRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.reason = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.reason = None
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_AbortTransactionRecord(o: AbortTransactionRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.reason is not None:
        w = bytearray()
        if o.reason is None:
            w.append(0)
        else:
            s = o.reason.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
