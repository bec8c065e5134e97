"""HeartbeatRequest (request 12, versions 0-4).

Generated from schemas/api/heartbeat.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tags,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class HeartbeatRequest(Message):
    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "unknown_tags",
    )

    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("HeartbeatRequest", version)
        o = _new(cls)
        try:
            if version >= 4:
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
                o.generation_id, n = _u_iB(buf, pos)
                pos += 5
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
                o.generation_id, n = _u_ih(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                if version >= 3:
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
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"HeartbeatRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"HeartbeatRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"HeartbeatRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                s = o.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.member_id.encode()
                w += _p_i(o.generation_id)
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
                s = o.member_id.encode()
                w += _p_ih(o.generation_id, len(s))
                w += s
                if version >= 3:
                    if o.group_instance_id is None:
                        w += b"\xff\xff"
                    else:
                        s = o.group_instance_id.encode()
                        w += _p_h(len(s))
                        w += s
                elif o.group_instance_id is not None:
                    raise refuse_field("group_instance_id", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"HeartbeatRequest v{version}: {error}") from error
