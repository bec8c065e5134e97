"""ListGroupsRequest (request 16, versions 0-5).

Generated from schemas/api/list_groups.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
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


class ListGroupsRequest(Message):
    __slots__ = (
        "states_filter",
        "types_filter",
        "unknown_tags",
    )

    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        states_filter: list[str] = FRESH,
        types_filter: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.states_filter = [] if states_filter is FRESH else states_filter
        self.types_filter = [] if types_filter is FRESH else types_filter
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("ListGroupsRequest", version)
        o = _new(cls)
        try:
            if version >= 3:
                if version >= 4:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > most:
                            raise refuse_count("states_filter", n, len(buf) - pos)
                        o.states_filter = a = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("states_filter element")
                            e = pos + m - 1
                            a.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("states_filter")
                else:
                    o.states_filter = []
                if version >= 5:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > most:
                            raise refuse_count("types_filter", n, len(buf) - pos)
                        o.types_filter = a = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("types_filter element")
                            e = pos + m - 1
                            a.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("types_filter")
                else:
                    o.types_filter = []
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.states_filter = []
                o.types_filter = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListGroupsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListGroupsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"ListGroupsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                if version >= 4:
                    n = len(o.states_filter) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.states_filter:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                elif len(o.states_filter) != 0:
                    raise refuse_field("states_filter", version)
                if version >= 5:
                    n = len(o.types_filter) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.types_filter:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                elif len(o.types_filter) != 0:
                    raise refuse_field("types_filter", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.states_filter) != 0:
                    raise refuse_field("states_filter", version)
                if len(o.types_filter) != 0:
                    raise refuse_field("types_filter", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListGroupsRequest v{version}: {error}") from error
