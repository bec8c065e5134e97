"""DeleteGroupsRequest (request 42, versions 0-3).

Generated from schemas/api/delete_groups.txt by pykbroker.protocol.generate: do not edit.
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
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DeleteGroupsRequest(Message):
    __slots__ = (
        "groups_names",
        "unknown_tags",
    )

    API_KEY = 42
    MIN_VERSION = 0
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        groups_names: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.groups_names = [] if groups_names is FRESH else groups_names
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 3:
            raise refuse_version("DeleteGroupsRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n > len(buf) - pos or n > most:
                        raise refuse_count("groups_names", n, len(buf) - pos)
                    o.groups_names = a = []
                    for _ in range(n):
                        m = buf[pos]
                        pos += 1
                        if m > 127:
                            m, pos = read_string_length(buf, pos - 1)
                        if m <= 0:
                            raise refuse_null("groups_names element")
                        e = pos + m - 1
                        a.append(str(buf[pos:e], "utf-8", "java"))
                        pos = e
                else:
                    raise refuse_null("groups_names")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("groups_names", n, len(buf) - pos)
                    o.groups_names = a = []
                    for _ in range(n):
                        (m,) = _u_h(buf, pos)
                        pos += 2
                        if m < 0:
                            raise refuse_null("groups_names element")
                        e = pos + m
                        a.append(str(buf[pos:e], "utf-8", "java"))
                        pos = e
                else:
                    raise refuse_null("groups_names")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteGroupsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteGroupsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 3:
            raise EncodeError(f"DeleteGroupsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.groups_names) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.groups_names:
                    s = x.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.groups_names))
                for x in o.groups_names:
                    s = x.encode()
                    w += _p_h(len(s))
                    w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteGroupsRequest v{version}: {error}") from error
