"""AccessControlEntryRecord (record 18, versions 0-0).

Generated from schemas/metadata/access_control_entry_record.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    ZERO_UUID,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_ubB = Struct(">16sbB").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_bbB = Struct(">bbB").unpack_from
_p_ub = Struct(">16sb").pack
_p_b = Struct(">b").pack
_p_bb = Struct(">bb").pack


class AccessControlEntryRecord(Message):
    __slots__ = (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AccessControlEntryRecord", version)
        o = _new(cls)
        try:
            o.id, o.resource_type, n = _u_ubB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.resource_name = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("resource_name")
            o.pattern_type, n = _u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.principal = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("principal")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.host = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("host")
            o.operation, o.permission_type, n = _u_bbB(buf, pos)
            pos += 3
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AccessControlEntryRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AccessControlEntryRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AccessControlEntryRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            s = o.resource_name.encode()
            w += _p_ub(o.id, o.resource_type)
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            s = o.principal.encode()
            w += _p_b(o.pattern_type)
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            s = o.host.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_bb(o.operation, o.permission_type)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AccessControlEntryRecord v{version}: {error}") from error
