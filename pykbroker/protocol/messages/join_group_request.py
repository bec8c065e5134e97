"""JoinGroupRequest (request 11, versions 0-9).

Generated from schemas/api/join_group.txt by pykbroker.protocol.generate: do not edit.
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
_u_iiB = Struct(">iiB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class JoinGroupRequest(Message):
    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
        "unknown_tags",
    )

    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    LATEST_VERSION = 9
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = FRESH,
        reason: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is FRESH else protocols
        self.reason = reason
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 9:
            raise refuse_version("JoinGroupRequest", version)
        o = _new(cls)
        try:
            if version >= 6:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                o.session_timeout_ms, o.rebalance_timeout_ms, n = _u_iiB(buf, pos)
                pos += 9
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.group_instance_id = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.protocol_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("protocol_type")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("protocols", n, len(buf) - pos)
                    o.protocols = a = []
                    for _ in range(n):
                        o1 = _new(JoinGroupRequestProtocol)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.metadata = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("metadata")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("protocols")
                if version >= 8:
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
                    o.reason = None
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
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                (o.session_timeout_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 1:
                    (o.rebalance_timeout_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.rebalance_timeout_ms = -1
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                if version >= 5:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.group_instance_id = None
                else:
                    o.group_instance_id = None
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.protocol_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("protocol_type")
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("protocols", n, len(buf) - pos)
                    o.protocols = a = []
                    for _ in range(n):
                        o1 = _new(JoinGroupRequestProtocol)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.metadata = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("metadata")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("protocols")
                o.reason = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"JoinGroupRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"JoinGroupRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 9:
            raise EncodeError(f"JoinGroupRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
                s = o.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.member_id.encode()
                w += _p_ii(o.session_timeout_ms, o.rebalance_timeout_ms)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if o.group_instance_id is None:
                    w.append(0)
                else:
                    s = o.group_instance_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                s = o.protocol_type.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o.protocols) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.protocols:
                    s = o1.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.metadata) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.metadata
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if version >= 8:
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
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.group_id.encode()
                w += _p_h(len(s))
                w += s
                w += _p_i(o.session_timeout_ms)
                if version >= 1:
                    w += _p_i(o.rebalance_timeout_ms)
                s = o.member_id.encode()
                w += _p_h(len(s))
                w += s
                if version >= 5:
                    if o.group_instance_id is None:
                        w += b"\xff\xff"
                    else:
                        s = o.group_instance_id.encode()
                        w += _p_h(len(s))
                        w += s
                elif o.group_instance_id is not None:
                    raise refuse_field("group_instance_id", version)
                s = o.protocol_type.encode()
                w += _p_h(len(s))
                w += s
                w += _p_i(len(o.protocols))
                for o1 in o.protocols:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.metadata))
                    w += o1.metadata
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"JoinGroupRequest v{version}: {error}") from error


class JoinGroupRequestProtocol(Message):
    __slots__ = (
        "name",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags = unknown_tags
