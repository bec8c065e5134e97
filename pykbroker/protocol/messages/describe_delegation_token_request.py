"""DescribeDelegationTokenRequest (request 41, versions 1-3).

Generated from schemas/api/describe_delegation_token.txt by pykbroker.protocol.generate: do not edit.
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


class DescribeDelegationTokenRequest(Message):
    __slots__ = (
        "owners",
        "unknown_tags",
    )

    API_KEY = 41
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        owners: list[DescribeDelegationTokenOwner] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owners = [] if owners is FRESH else owners
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DescribeDelegationTokenRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("owners", n, len(buf) - pos)
                    o.owners = a = []
                    for _ in range(n):
                        o1 = _new(DescribeDelegationTokenOwner)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_type")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_name")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    o.owners = None
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
                    if n * 4 > len(buf) - pos or n > most:
                        raise refuse_count("owners", n, len(buf) - pos)
                    o.owners = a = []
                    for _ in range(n):
                        o1 = _new(DescribeDelegationTokenOwner)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.principal_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_type")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.principal_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_name")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    o.owners = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeDelegationTokenRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeDelegationTokenRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DescribeDelegationTokenRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                if o.owners is None:
                    w.append(0)
                else:
                    n = len(o.owners) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.owners:
                        s = o1.principal_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o1.principal_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if o.owners is None:
                    w += b"\xff\xff\xff\xff"
                else:
                    w += _p_i(len(o.owners))
                    for o1 in o.owners:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.principal_type.encode()
                        w += _p_h(len(s))
                        w += s
                        s = o1.principal_name.encode()
                        w += _p_h(len(s))
                        w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeDelegationTokenRequest v{version}: {error}") from error


class DescribeDelegationTokenOwner(Message):
    __slots__ = (
        "principal_type",
        "principal_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tags = unknown_tags
