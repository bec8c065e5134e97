"""SyncGroupResponse (response 14, versions 0-5).

Generated from schemas/api/sync_group.txt by pykbroker.protocol.generate: do not edit.
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
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_ih = Struct(">ih").unpack_from
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class SyncGroupResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "protocol_type",
        "protocol_name",
        "assignment",
        "unknown_tags",
    )

    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("SyncGroupResponse", version)
        o = _new(cls)
        try:
            if version >= 4:
                o.throttle_time_ms, o.error_code = _u_ih(buf, pos)
                pos += 6
                if version >= 5:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.protocol_type = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.protocol_type = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.protocol_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.protocol_name = None
                else:
                    o.protocol_type = None
                    o.protocol_name = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.assignment = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("assignment")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 1:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                o.error_code, n = _u_hi(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.assignment = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("assignment")
                o.protocol_type = None
                o.protocol_name = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SyncGroupResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SyncGroupResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"SyncGroupResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                w += _p_ih(o.throttle_time_ms, o.error_code)
                if version >= 5:
                    if o.protocol_type is None:
                        w.append(0)
                    else:
                        s = o.protocol_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if o.protocol_name is None:
                        w.append(0)
                    else:
                        s = o.protocol_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                n = len(o.assignment) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.assignment
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
                w += _p_hi(o.error_code, len(o.assignment))
                w += o.assignment
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SyncGroupResponse v{version}: {error}") from error
