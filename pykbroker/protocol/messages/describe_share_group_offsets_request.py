"""DescribeShareGroupOffsetsRequest (request 90, versions 0-1).

Generated from schemas/api/describe_share_group_offsets.txt by pykbroker.protocol.generate: do not edit.
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


class DescribeShareGroupOffsetsRequest(Message):
    __slots__ = (
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
        groups: list[DescribeShareGroupOffsetsRequestGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("DescribeShareGroupOffsetsRequest", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("groups", n, len(buf) - pos)
                o.groups = a = []
                for _ in range(n):
                    x, pos = _read_DescribeShareGroupOffsetsRequestGroup(buf, pos, version)
                    a.append(x)
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
            raise DecodeError(f"DescribeShareGroupOffsetsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeShareGroupOffsetsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"DescribeShareGroupOffsetsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.groups) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.groups:
                _write_DescribeShareGroupOffsetsRequestGroup(x, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeShareGroupOffsetsRequest v{version}: {error}") from error


class DescribeShareGroupOffsetsRequestGroup(Message):
    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class DescribeShareGroupOffsetsRequestTopic(Message):
    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _read_DescribeShareGroupOffsetsRequestGroup(buf: bytes | memoryview, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestGroup, int]:
    o = _new(DescribeShareGroupOffsetsRequestGroup)
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("topics", n, len(buf) - pos)
        o.topics = a = []
        for _ in range(n):
            x, pos = _read_DescribeShareGroupOffsetsRequestTopic(buf, pos, version)
            a.append(x)
    else:
        o.topics = None
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_DescribeShareGroupOffsetsRequestGroup(o: DescribeShareGroupOffsetsRequestGroup, w: bytearray, version: int) -> None:
    s = o.group_id.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    if o.topics is None:
        w.append(0)
    else:
        n = len(o.topics) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.topics:
            _write_DescribeShareGroupOffsetsRequestTopic(x, w, version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_DescribeShareGroupOffsetsRequestTopic(buf: bytes | memoryview, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestTopic, int]:
    o = _new(DescribeShareGroupOffsetsRequestTopic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.topic_name = str(buf[pos:e], "utf-8", "java")
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
        o.partitions = list(unpack_from(f">{n}i", buf, pos))
        pos += 4 * n
    else:
        raise refuse_null("partitions")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_DescribeShareGroupOffsetsRequestTopic(o: DescribeShareGroupOffsetsRequestTopic, w: bytearray, version: int) -> None:
    s = o.topic_name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    n = len(o.partitions) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    w += pack(f">{len(o.partitions)}i", *o.partitions)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
