"""BeginTransactionRecord (record 23, versions 0-0).

Generated from schemas/metadata/begin_transaction_record.txt by pykbroker.protocol.generate: do not edit.
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


class BeginTransactionRecord(Message):
    __slots__ = (
        "name",
        "unknown_tags",
    )

    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        name: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("BeginTransactionRecord", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            o.name = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_BeginTransactionRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BeginTransactionRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BeginTransactionRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"BeginTransactionRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.name is not None or o.unknown_tags:
                _put_tags_BeginTransactionRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BeginTransactionRecord v{version}: {error}") from error


def _tags_BeginTransactionRecord(o: BeginTransactionRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
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
                o.name = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.name = None
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_BeginTransactionRecord(o: BeginTransactionRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.name is not None:
        w = bytearray()
        if o.name is None:
            w.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
