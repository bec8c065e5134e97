"""ShareGroupStatePartitionMetadataValue (value 15, versions 0-0).

Generated from schemas/group_coordinator/share_group_state_partition_metadata.txt by pykbroker.protocol.generate: do not edit.
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
_p_u = Struct(">16s").pack


class ShareGroupStatePartitionMetadataValue(Message):
    __slots__ = (
        "initializing_topics",
        "initialized_topics",
        "deleting_topics",
        "unknown_tags",
    )

    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        initializing_topics: list[TopicPartitionsInfo] = FRESH,
        initialized_topics: list[TopicPartitionsInfo] = FRESH,
        deleting_topics: list[TopicInfo] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.initializing_topics = [] if initializing_topics is FRESH else initializing_topics
        self.initialized_topics = [] if initialized_topics is FRESH else initialized_topics
        self.deleting_topics = [] if deleting_topics is FRESH else deleting_topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ShareGroupStatePartitionMetadataValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 19 > len(buf) - pos or n > 1000000:
                    raise refuse_count("initializing_topics", n, len(buf) - pos)
                o.initializing_topics = a = []
                for _ in range(n):
                    x, pos = _read_TopicPartitionsInfo(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("initializing_topics")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 19 > len(buf) - pos or n > 1000000:
                    raise refuse_count("initialized_topics", n, len(buf) - pos)
                o.initialized_topics = a = []
                for _ in range(n):
                    x, pos = _read_TopicPartitionsInfo(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("initialized_topics")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > 1000000:
                    raise refuse_count("deleting_topics", n, len(buf) - pos)
                o.deleting_topics = a = []
                for _ in range(n):
                    o1 = _new(TopicInfo)
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
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("deleting_topics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareGroupStatePartitionMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareGroupStatePartitionMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ShareGroupStatePartitionMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.initializing_topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.initializing_topics:
                _write_TopicPartitionsInfo(x, w, version)
            n = len(o.initialized_topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.initialized_topics:
                _write_TopicPartitionsInfo(x, w, version)
            n = len(o.deleting_topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.deleting_topics:
                s = o1.topic_name.encode()
                w += _p_u(o1.topic_id)
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
            raise EncodeError(f"ShareGroupStatePartitionMetadataValue v{version}: {error}") from error


class TopicPartitionsInfo(Message):
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


class TopicInfo(Message):
    __slots__ = (
        "topic_id",
        "topic_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.unknown_tags = unknown_tags


def _read_TopicPartitionsInfo(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicPartitionsInfo, int]:
    o = _new(TopicPartitionsInfo)
    o.topic_id, n = _u_uB(buf, pos)
    pos += 17
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
        if n < 16:
            o.partitions = [*READ_INT32S[n](buf, pos)]
        else:
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


def _write_TopicPartitionsInfo(o: TopicPartitionsInfo, w: bytearray, version: int) -> None:
    s = o.topic_name.encode()
    w += _p_u(o.topic_id)
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
    if n < 17:
        w += PACK_INT32S[n - 1](*o.partitions)
    else:
        w += pack(f">{len(o.partitions)}i", *o.partitions)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
