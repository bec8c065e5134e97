"""FindCoordinatorRequest (request 10, versions 0-6).

Generated from schemas/api/find_coordinator.txt by pykbroker.protocol.generate: do not edit.
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
_u_b = Struct(">b").unpack_from
_u_h = Struct(">h").unpack_from
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack


class FindCoordinatorRequest(Message):
    __slots__ = (
        "key",
        "key_type",
        "coordinator_keys",
        "unknown_tags",
    )

    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is FRESH else coordinator_keys
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("FindCoordinatorRequest", version)
        o = _new(cls)
        try:
            if version >= 3:
                if version <= 3:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.key = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("key")
                else:
                    o.key = ""
                (o.key_type,) = _u_b(buf, pos)
                pos += 1
                if version >= 4:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > most:
                            raise refuse_count("coordinator_keys", n, len(buf) - pos)
                        o.coordinator_keys = a = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("coordinator_keys element")
                            e = pos + m - 1
                            a.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("coordinator_keys")
                else:
                    o.coordinator_keys = []
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.key = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("key")
                if version >= 1:
                    (o.key_type,) = _u_b(buf, pos)
                    pos += 1
                else:
                    o.key_type = 0
                o.coordinator_keys = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FindCoordinatorRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FindCoordinatorRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"FindCoordinatorRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                if version <= 3:
                    s = o.key.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                elif o.key != "":
                    raise refuse_field("key", version)
                w += _p_b(o.key_type)
                if version >= 4:
                    n = len(o.coordinator_keys) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.coordinator_keys:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                elif len(o.coordinator_keys) != 0:
                    raise refuse_field("coordinator_keys", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.coordinator_keys) != 0:
                    raise refuse_field("coordinator_keys", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.key.encode()
                w += _p_h(len(s))
                w += s
                if version >= 1:
                    w += _p_b(o.key_type)
                elif o.key_type != 0:
                    raise refuse_field("key_type", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FindCoordinatorRequest v{version}: {error}") from error
