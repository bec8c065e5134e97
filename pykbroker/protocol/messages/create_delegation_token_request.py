"""CreateDelegationTokenRequest (request 38, versions 1-3).

Generated from schemas/api/create_delegation_token.txt by pykbroker.protocol.generate: do not edit.
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
_u_q = Struct(">q").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class CreateDelegationTokenRequest(Message):
    __slots__ = (
        "owner_principal_type",
        "owner_principal_name",
        "renewers",
        "max_lifetime_ms",
        "unknown_tags",
    )

    API_KEY = 38
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = FRESH,
        max_lifetime_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is FRESH else renewers
        self.max_lifetime_ms = max_lifetime_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("CreateDelegationTokenRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                if version >= 3:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.owner_principal_type = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.owner_principal_type = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.owner_principal_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.owner_principal_name = None
                else:
                    o.owner_principal_type = ""
                    o.owner_principal_name = ""
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("renewers", n, len(buf) - pos)
                    o.renewers = a = []
                    for _ in range(n):
                        o1 = _new(CreatableRenewers)
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
                    raise refuse_null("renewers")
                o.max_lifetime_ms, n = _u_qB(buf, pos)
                pos += 9
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
                        raise refuse_count("renewers", n, len(buf) - pos)
                    o.renewers = a = []
                    for _ in range(n):
                        o1 = _new(CreatableRenewers)
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
                    raise refuse_null("renewers")
                (o.max_lifetime_ms,) = _u_q(buf, pos)
                pos += 8
                o.owner_principal_type = ""
                o.owner_principal_name = ""
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"CreateDelegationTokenRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"CreateDelegationTokenRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"CreateDelegationTokenRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                if version >= 3:
                    if o.owner_principal_type is None:
                        w.append(0)
                    else:
                        s = o.owner_principal_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if o.owner_principal_name is None:
                        w.append(0)
                    else:
                        s = o.owner_principal_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                elif o.owner_principal_type != "":
                    raise refuse_field("owner_principal_type", version)
                elif o.owner_principal_name != "":
                    raise refuse_field("owner_principal_name", version)
                n = len(o.renewers) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.renewers:
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
                w += _p_q(o.max_lifetime_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.owner_principal_type != "":
                    raise refuse_field("owner_principal_type", version)
                if o.owner_principal_name != "":
                    raise refuse_field("owner_principal_name", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.renewers))
                for o1 in o.renewers:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.principal_type.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.principal_name.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_q(o.max_lifetime_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"CreateDelegationTokenRequest v{version}: {error}") from error


class CreatableRenewers(Message):
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
