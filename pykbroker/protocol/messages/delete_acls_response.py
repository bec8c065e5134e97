"""DeleteAclsResponse (response 31, versions 1-3).

Generated from schemas/api/delete_acls.txt by pykbroker.protocol.generate: do not edit.
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
_u_bB = Struct(">bB").unpack_from
_u_bb = Struct(">bb").unpack_from
_u_bbB = Struct(">bbB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_b = Struct(">b").pack
_p_bb = Struct(">bb").pack
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class DeleteAclsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "filter_results",
        "unknown_tags",
    )

    API_KEY = 31
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is FRESH else filter_results
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DeleteAclsResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("filter_results", n, len(buf) - pos)
                    o.filter_results = a = []
                    for _ in range(n):
                        o1 = _new(DeleteAclsFilterResult)
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 11 > len(buf) - pos or n > 1000000:
                                raise refuse_count("matching_acls", n, len(buf) - pos)
                            o1.matching_acls = a1 = []
                            for _ in range(n):
                                o2 = _new(DeleteAclsMatchingAcl)
                                o2.error_code, n = _u_hB(buf, pos)
                                pos += 3
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.error_message = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.error_message = None
                                o2.resource_type, n = _u_bB(buf, pos)
                                pos += 2
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.resource_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("resource_name")
                                o2.pattern_type, n = _u_bB(buf, pos)
                                pos += 2
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.principal = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("host")
                                o2.operation, o2.permission_type, n = _u_bbB(buf, pos)
                                pos += 3
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("matching_acls")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("filter_results")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, n = _u_ii(buf, pos)
                pos += 8
                if n >= 0:
                    if n * 8 > len(buf) - pos or n > 1000000:
                        raise refuse_count("filter_results", n, len(buf) - pos)
                    o.filter_results = a = []
                    for _ in range(n):
                        o1 = _new(DeleteAclsFilterResult)
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 14 > len(buf) - pos or n > 1000000:
                                raise refuse_count("matching_acls", n, len(buf) - pos)
                            o1.matching_acls = a1 = []
                            for _ in range(n):
                                o2 = _new(DeleteAclsMatchingAcl)
                                o2.error_code, n = _u_hh(buf, pos)
                                pos += 4
                                if n >= 0:
                                    e = pos + n
                                    o2.error_message = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.error_message = None
                                o2.resource_type, n = _u_bh(buf, pos)
                                pos += 3
                                if n >= 0:
                                    e = pos + n
                                    o2.resource_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("resource_name")
                                o2.pattern_type, n = _u_bh(buf, pos)
                                pos += 3
                                if n >= 0:
                                    e = pos + n
                                    o2.principal = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("host")
                                o2.operation, o2.permission_type = _u_bb(buf, pos)
                                pos += 2
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("matching_acls")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("filter_results")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteAclsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteAclsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DeleteAclsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_i(o.throttle_time_ms)
                n = len(o.filter_results) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.filter_results:
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w.append(0)
                    else:
                        s = o1.error_message.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    n = len(o1.matching_acls) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.matching_acls:
                        w += _p_h(o2.error_code)
                        if o2.error_message is None:
                            w.append(0)
                        else:
                            s = o2.error_message.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        s = o2.resource_name.encode()
                        w += _p_b(o2.resource_type)
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.principal.encode()
                        w += _p_b(o2.pattern_type)
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.host.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_bb(o2.operation, o2.permission_type)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
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
                w += _p_ii(o.throttle_time_ms, len(o.filter_results))
                for o1 in o.filter_results:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.error_message.encode()
                        w += _p_h(len(s))
                        w += s
                    w += _p_i(len(o1.matching_acls))
                    for o2 in o1.matching_acls:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_h(o2.error_code)
                        if o2.error_message is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.error_message.encode()
                            w += _p_h(len(s))
                            w += s
                        s = o2.resource_name.encode()
                        w += _p_bh(o2.resource_type, len(s))
                        w += s
                        s = o2.principal.encode()
                        w += _p_bh(o2.pattern_type, len(s))
                        w += s
                        s = o2.host.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_bb(o2.operation, o2.permission_type)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteAclsResponse v{version}: {error}") from error


class DeleteAclsFilterResult(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is FRESH else matching_acls
        self.unknown_tags = unknown_tags


class DeleteAclsMatchingAcl(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tags = unknown_tags
