"""OffsetDeleteRequest (request 47, versions 0-0).

Generated from schemas/api/offset_delete.txt by pykbroker.protocol.generate: do not edit.
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


class OffsetDeleteRequest(Message):
    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )

    API_KEY = 47
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("OffsetDeleteRequest", version)
        o = _new(cls)
        try:
            left = most
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.group_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("group_id")
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                if n * 6 > len(buf) - pos or n > most:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(OffsetDeleteRequestTopic)
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
                        if n * 4 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(OffsetDeleteRequestPartition)
                            (o2.partition_index,) = _u_i(buf, pos)
                            pos += 4
                            o2.unknown_tags = None
                            a1.append(o2)
                    else:
                        raise refuse_null("partitions")
                    o1.unknown_tags = None
                    a.append(o1)
            else:
                raise refuse_null("topics")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"OffsetDeleteRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"OffsetDeleteRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"OffsetDeleteRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            s = o.group_id.encode()
            w += _p_h(len(s))
            w += s
            w += _p_i(len(o.topics))
            for o1 in o.topics:
                if o1.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o1.name.encode()
                w += _p_h(len(s))
                w += s
                w += _p_i(len(o1.partitions))
                for o2 in o1.partitions:
                    if o2.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_i(o2.partition_index)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"OffsetDeleteRequest v{version}: {error}") from error


class OffsetDeleteRequestTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class OffsetDeleteRequestPartition(Message):
    __slots__ = (
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags
