"""ListTransactionsRequest (request 66, versions 0-2).

Generated from schemas/api/list_transactions.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_q = Struct(">q").unpack_from
_p_q = Struct(">q").pack


class ListTransactionsRequest(Message):
    __slots__ = (
        "state_filters",
        "producer_id_filters",
        "duration_filter",
        "transactional_id_pattern",
        "unknown_tags",
    )

    API_KEY = 66
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        state_filters: list[str] = FRESH,
        producer_id_filters: list[int] = FRESH,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.state_filters = [] if state_filters is FRESH else state_filters
        self.producer_id_filters = [] if producer_id_filters is FRESH else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("ListTransactionsRequest", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n > len(buf) - pos or n > most:
                    raise refuse_count("state_filters", n, len(buf) - pos)
                o.state_filters = a = []
                for _ in range(n):
                    m = buf[pos]
                    pos += 1
                    if m > 127:
                        m, pos = read_string_length(buf, pos - 1)
                    if m <= 0:
                        raise refuse_null("state_filters element")
                    e = pos + m - 1
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("state_filters")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 8 > len(buf) - pos or n > most:
                    raise refuse_count("producer_id_filters", n, len(buf) - pos)
                o.producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
                pos += 8 * n
            else:
                raise refuse_null("producer_id_filters")
            if version >= 1:
                (o.duration_filter,) = _u_q(buf, pos)
                pos += 8
            else:
                o.duration_filter = -1
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.transactional_id_pattern = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.transactional_id_pattern = None
            else:
                o.transactional_id_pattern = None
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListTransactionsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListTransactionsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"ListTransactionsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.state_filters) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.state_filters:
                s = x.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            n = len(o.producer_id_filters) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += pack(f">{len(o.producer_id_filters)}q", *o.producer_id_filters)
            if version >= 1:
                w += _p_q(o.duration_filter)
            elif o.duration_filter != -1:
                raise refuse_field("duration_filter", version)
            if version >= 2:
                if o.transactional_id_pattern is None:
                    w.append(0)
                else:
                    s = o.transactional_id_pattern.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
            elif o.transactional_id_pattern is not None:
                raise refuse_field("transactional_id_pattern", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListTransactionsRequest v{version}: {error}") from error
