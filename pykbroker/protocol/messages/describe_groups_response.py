"""DescribeGroupsResponse (response 15, versions 0-6).

Generated from schemas/api/describe_groups.txt by pykbroker.protocol.generate: do not edit.
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
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_i = Struct(">i").pack


class DescribeGroupsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )

    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("DescribeGroupsResponse", version)
        o = _new(cls)
        try:
            if version >= 5:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 12 > len(buf) - pos or n > 1000000:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        o1 = _new(DescribedGroup)
                        (o1.error_code,) = _u_h(buf, pos)
                        pos += 2
                        if version >= 6:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.error_message = None
                        else:
                            o1.error_message = None
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.group_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.group_state = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_state")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.protocol_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_type")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.protocol_data = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_data")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 7 > len(buf) - pos or n > 1000000:
                                raise refuse_count("members", n, len(buf) - pos)
                            o1.members = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribedGroupMember)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.member_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("member_id")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.group_instance_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.group_instance_id = None
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.client_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("client_id")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.client_host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("client_host")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.member_metadata = bytes(buf[pos:e])
                                    pos = e
                                else:
                                    raise refuse_null("member_metadata")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.member_assignment = bytes(buf[pos:e])
                                    pos = e
                                else:
                                    raise refuse_null("member_assignment")
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("members")
                        o1.authorized_operations, n = _u_iB(buf, pos)
                        pos += 5
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("groups")
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
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 14 > len(buf) - pos or n > 1000000:
                        raise refuse_count("groups", n, len(buf) - pos)
                    o.groups = a = []
                    for _ in range(n):
                        o1 = _new(DescribedGroup)
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.group_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_id")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.group_state = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("group_state")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.protocol_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_type")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.protocol_data = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("protocol_data")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 14 > len(buf) - pos or n > 1000000:
                                raise refuse_count("members", n, len(buf) - pos)
                            o1.members = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribedGroupMember)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.member_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("member_id")
                                if version >= 4:
                                    (n,) = _u_h(buf, pos)
                                    pos += 2
                                    if n >= 0:
                                        e = pos + n
                                        o2.group_instance_id = str(buf[pos:e], "utf-8", "java")
                                        pos = e
                                    else:
                                        o2.group_instance_id = None
                                else:
                                    o2.group_instance_id = None
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.client_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("client_id")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.client_host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("client_host")
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    e = pos + n
                                    o2.member_metadata = bytes(buf[pos:e])
                                    pos = e
                                else:
                                    raise refuse_null("member_metadata")
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    e = pos + n
                                    o2.member_assignment = bytes(buf[pos:e])
                                    pos = e
                                else:
                                    raise refuse_null("member_assignment")
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("members")
                        if version >= 3:
                            (o1.authorized_operations,) = _u_i(buf, pos)
                            pos += 4
                        else:
                            o1.authorized_operations = -2147483648
                        o1.error_message = None
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("groups")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeGroupsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeGroupsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"DescribeGroupsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 5:
                w += _p_i(o.throttle_time_ms)
                n = len(o.groups) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.groups:
                    w += _p_h(o1.error_code)
                    if version >= 6:
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
                    elif o1.error_message is not None:
                        raise refuse_field("error_message", version)
                    s = o1.group_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.group_state.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.protocol_type.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.protocol_data.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.members) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.members:
                        s = o2.member_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o2.group_instance_id is None:
                            w.append(0)
                        else:
                            s = o2.group_instance_id.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        s = o2.client_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.client_host.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        n = len(o2.member_metadata) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        w += o2.member_metadata
                        n = len(o2.member_assignment) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        w += o2.member_assignment
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    w += _p_i(o1.authorized_operations)
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
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
                w += _p_i(len(o.groups))
                for o1 in o.groups:
                    if o1.error_message is not None:
                        raise refuse_field("error_message", version)
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.group_id.encode()
                    w += _p_hh(o1.error_code, len(s))
                    w += s
                    s = o1.group_state.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.protocol_type.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.protocol_data.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.members))
                    for o2 in o1.members:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.member_id.encode()
                        w += _p_h(len(s))
                        w += s
                        if version >= 4:
                            if o2.group_instance_id is None:
                                w += b"\xff\xff"
                            else:
                                s = o2.group_instance_id.encode()
                                w += _p_h(len(s))
                                w += s
                        s = o2.client_id.encode()
                        w += _p_h(len(s))
                        w += s
                        s = o2.client_host.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o2.member_metadata))
                        w += o2.member_metadata
                        w += _p_i(len(o2.member_assignment))
                        w += o2.member_assignment
                    if version >= 3:
                        w += _p_i(o1.authorized_operations)
                    elif o1.authorized_operations != -2147483648:
                        raise refuse_field("authorized_operations", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeGroupsResponse v{version}: {error}") from error


class DescribedGroup(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = FRESH,
        authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is FRESH else members
        self.authorized_operations = authorized_operations
        self.unknown_tags = unknown_tags


class DescribedGroupMember(Message):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        self.unknown_tags = unknown_tags
