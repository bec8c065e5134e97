"""ShareGroupDescribeResponse (response 77, versions 1-1).

Generated from schemas/api/share_group_describe.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    PACK_INT32S,
    READ_INT32S,
    ZERO_UUID,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class ShareGroupDescribeResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )

    API_KEY = 77
    MIN_VERSION = 1
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

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
        if not 1 <= version <= 1:
            raise refuse_version("ShareGroupDescribeResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 20 > len(buf) - pos or n > 1000000:
                    raise refuse_count("groups", n, len(buf) - pos)
                o.groups = a = []
                for _ in range(n):
                    o1 = _new(DescribedGroup)
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
                    o1.group_epoch, o1.assignment_epoch, n = _u_iiB(buf, pos)
                    pos += 9
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.assignor_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("assignor_name")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 12 > len(buf) - pos or n > 1000000:
                            raise refuse_count("members", n, len(buf) - pos)
                        o1.members = a1 = []
                        for _ in range(n):
                            o2 = _new(Member)
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
                                o2.rack_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.rack_id = None
                            o2.member_epoch, n = _u_iB(buf, pos)
                            pos += 5
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
                                n -= 1
                                if n > len(buf) - pos or n > 1000000:
                                    raise refuse_count("subscribed_topic_names", n, len(buf) - pos)
                                o2.subscribed_topic_names = a2 = []
                                for _ in range(n):
                                    m = buf[pos]
                                    pos += 1
                                    if m > 127:
                                        m, pos = read_string_length(buf, pos - 1)
                                    if m <= 0:
                                        raise refuse_null("subscribed_topic_names element")
                                    e = pos + m - 1
                                    a2.append(str(buf[pos:e], "utf-8", "java"))
                                    pos = e
                            else:
                                raise refuse_null("subscribed_topic_names")
                            o2.assignment, pos = _read_Assignment(buf, pos, version)
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
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareGroupDescribeResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareGroupDescribeResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 1:
            raise EncodeError(f"ShareGroupDescribeResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.throttle_time_ms)
            n = len(o.groups) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.groups:
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
                s = o1.assignor_name.encode()
                w += _p_ii(o1.group_epoch, o1.assignment_epoch)
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
                    if o2.rack_id is None:
                        w.append(0)
                    else:
                        s = o2.rack_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    s = o2.client_id.encode()
                    w += _p_i(o2.member_epoch)
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
                    n = len(o2.subscribed_topic_names) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.subscribed_topic_names:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    _write_Assignment(o2.assignment, w, version)
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
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareGroupDescribeResponse v{version}: {error}") from error


class DescribedGroup(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
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
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = FRESH,
        authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is FRESH else members
        self.authorized_operations = authorized_operations
        self.unknown_tags = unknown_tags


class Member(Message):
    __slots__ = (
        "member_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        assignment: Assignment = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.assignment = Assignment() if assignment is FRESH else assignment
        self.unknown_tags = unknown_tags


class Assignment(Message):
    __slots__ = (
        "topic_partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is FRESH else topic_partitions
        self.unknown_tags = unknown_tags


class TopicPartitions(Message):
    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _read_Assignment(buf: bytes | memoryview, pos: int, version: int) -> tuple[Assignment, int]:
    o = _new(Assignment)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 19 > len(buf) - pos or n > 1000000:
            raise refuse_count("topic_partitions", n, len(buf) - pos)
        o.topic_partitions = a = []
        for _ in range(n):
            o1 = _new(TopicPartitions)
            o1.topic_id, n = _u_uB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o1.topic_name = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("topic_name")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("partitions", n, len(buf) - pos)
                if n < 16:
                    o1.partitions = [*READ_INT32S[n](buf, pos)]
                else:
                    o1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("partitions")
            n = buf[pos]
            pos += 1
            if n == 0:
                o1.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            a.append(o1)
    else:
        raise refuse_null("topic_partitions")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Assignment(o: Assignment, w: bytearray, version: int) -> None:
    n = len(o.topic_partitions) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for o1 in o.topic_partitions:
        s = o1.topic_name.encode()
        w += _p_u(o1.topic_id)
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o1.partitions) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        if n < 17:
            w += PACK_INT32S[n - 1](*o1.partitions)
        else:
            w += pack(f">{len(o1.partitions)}i", *o1.partitions)
        if o1.unknown_tags:
            put_tags(w, {}, o1.unknown_tags)
        else:
            w.append(0)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
