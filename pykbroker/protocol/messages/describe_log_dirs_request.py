"""DescribeLogDirsRequest (request 35, versions 1-5).

Generated from schemas/api/describe_log_dirs.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DescribeLogDirsRequest(Message):
    __slots__ = (
        "topics",
        "unknown_tags",
    )

    API_KEY = 35
    MIN_VERSION = 1
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        topics: list[DescribableLogDirTopic] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 5:
            raise refuse_version("DescribeLogDirsRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(DescribableLogDirTopic)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
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
                    o.topics = None
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(DescribableLogDirTopic)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            if n < 16:
                                o1.partitions = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partitions = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    o.topics = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeLogDirsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeLogDirsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 5:
            raise EncodeError(f"DescribeLogDirsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                if o.topics is None:
                    w.append(0)
                else:
                    n = len(o.topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.topics:
                        s = o1.topic.encode()
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
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if o.topics is None:
                    w += b"\xff\xff\xff\xff"
                else:
                    w += _p_i(len(o.topics))
                    for o1 in o.topics:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.topic.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o1.partitions))
                        if len(o1.partitions) < 16:
                            w += PACK_INT32S[len(o1.partitions)](*o1.partitions)
                        else:
                            w += pack(f">{len(o1.partitions)}i", *o1.partitions)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeLogDirsRequest v{version}: {error}") from error


class DescribableLogDirTopic(Message):
    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags
