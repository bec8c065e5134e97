"""DescribeShareGroupOffsetsResponse (response 90, versions 0-1).

Generated from schemas/api/describe_share_group_offsets.txt by pykbroker.protocol.generate: do not edit.
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
_u_iqi = Struct(">iqi").unpack_from
_u_q = Struct(">q").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_iqi = Struct(">iqi").pack
_p_q = Struct(">q").pack


class DescribeShareGroupOffsetsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )

    API_KEY = 90
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("DescribeShareGroupOffsetsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("groups", n, len(buf) - pos)
                o.groups = a = []
                for _ in range(n):
                    o1 = _new(DescribeShareGroupOffsetsResponseGroup)
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
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 19 > len(buf) - pos or n > 1000000:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o1.topics = a1 = []
                        for _ in range(n):
                            o2 = _new(DescribeShareGroupOffsetsResponseTopic)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.topic_name = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("topic_name")
                            o2.topic_id, n = _u_uB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 20 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("partitions", n, len(buf) - pos)
                                o2.partitions = a2 = []
                                for _ in range(n):
                                    o3 = _new(DescribeShareGroupOffsetsResponsePartition)
                                    o3.partition_index, o3.start_offset, o3.leader_epoch = _u_iqi(buf, pos)
                                    pos += 16
                                    if version >= 1:
                                        (o3.lag,) = _u_q(buf, pos)
                                        pos += 8
                                    else:
                                        o3.lag = -1
                                    o3.error_code, n = _u_hB(buf, pos)
                                    pos += 3
                                    if n > 127:
                                        n, pos = read_string_length(buf, pos - 1)
                                    if n > 0:
                                        e = pos + n - 1
                                        o3.error_message = str(buf[pos:e], "utf-8", "java")
                                        pos = e
                                    else:
                                        o3.error_message = None
                                    n = buf[pos]
                                    pos += 1
                                    if n == 0:
                                        o3.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a2.append(o3)
                            else:
                                raise refuse_null("partitions")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("topics")
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
            raise DecodeError(f"DescribeShareGroupOffsetsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeShareGroupOffsetsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"DescribeShareGroupOffsetsResponse has no version {version}")
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
                s = o1.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o1.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.topics:
                    s = o2.topic_name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_u(o2.topic_id)
                    n = len(o2.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.partitions:
                        w += _p_iqi(o3.partition_index, o3.start_offset, o3.leader_epoch)
                        if version >= 1:
                            w += _p_q(o3.lag)
                        w += _p_h(o3.error_code)
                        if o3.error_message is None:
                            w.append(0)
                        else:
                            s = o3.error_message.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        if o3.unknown_tags:
                            put_tags(w, {}, o3.unknown_tags)
                        else:
                            w.append(0)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
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
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeShareGroupOffsetsResponse v{version}: {error}") from error


class DescribeShareGroupOffsetsResponseGroup(Message):
    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = FRESH,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is FRESH else topics
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags


class DescribeShareGroupOffsetsResponseTopic(Message):
    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class DescribeShareGroupOffsetsResponsePartition(Message):
    __slots__ = (
        "partition_index",
        "start_offset",
        "leader_epoch",
        "lag",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
