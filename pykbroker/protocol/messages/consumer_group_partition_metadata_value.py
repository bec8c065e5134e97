"""ConsumerGroupPartitionMetadataValue (value 4, versions 0-0).

Generated from schemas/group_coordinator/consumer_group_partition_metadata.txt by pykbroker.protocol.generate: do not edit.
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
_u_iB = Struct(">iB").unpack_from
_p_u = Struct(">16s").pack
_p_i = Struct(">i").pack


class ConsumerGroupPartitionMetadataValue(Message):
    __slots__ = (
        "topics",
        "unknown_tags",
    )

    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        topics: list[TopicMetadata] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ConsumerGroupPartitionMetadataValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 23 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(TopicMetadata)
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
                    o1.num_partitions, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 6 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partition_metadata", n, len(buf) - pos)
                        o1.partition_metadata = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionMetadata)
                            o2.partition, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n > len(buf) - pos or n > 1000000:
                                    raise refuse_count("racks", n, len(buf) - pos)
                                o2.racks = a2 = []
                                for _ in range(n):
                                    m = buf[pos]
                                    pos += 1
                                    if m > 127:
                                        m, pos = read_string_length(buf, pos - 1)
                                    if m <= 0:
                                        raise refuse_null("racks element")
                                    e = pos + m - 1
                                    a2.append(str(buf[pos:e], "utf-8", "java"))
                                    pos = e
                            else:
                                raise refuse_null("racks")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("partition_metadata")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("topics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerGroupPartitionMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerGroupPartitionMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ConsumerGroupPartitionMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topics:
                s = o1.topic_name.encode()
                w += _p_u(o1.topic_id)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_i(o1.num_partitions)
                n = len(o1.partition_metadata) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partition_metadata:
                    w += _p_i(o2.partition)
                    n = len(o2.racks) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.racks:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
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
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerGroupPartitionMetadataValue v{version}: {error}") from error


class TopicMetadata(Message):
    __slots__ = (
        "topic_id",
        "topic_name",
        "num_partitions",
        "partition_metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is FRESH else partition_metadata
        self.unknown_tags = unknown_tags


class PartitionMetadata(Message):
    __slots__ = (
        "partition",
        "racks",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        racks: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.racks = [] if racks is FRESH else racks
        self.unknown_tags = unknown_tags
