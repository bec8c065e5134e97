"""DescribeProducersResponse (response 61, versions 0-0).

Generated from schemas/api/describe_producers.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_qiiqiqB = Struct(">qiiqiqB").unpack_from
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_qiiqiq = Struct(">qiiqiq").pack


class DescribeProducersResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )

    API_KEY = 61
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DescribeProducersResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(TopicResponse)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("name")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 9 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionResponse)
                            o2.partition_index, o2.error_code, n = _u_ihB(buf, pos)
                            pos += 7
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.error_message = None
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 37 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("active_producers", n, len(buf) - pos)
                                o2.active_producers = a2 = []
                                for _ in range(n):
                                    o3 = _new(ProducerState)
                                    o3.producer_id, o3.producer_epoch, o3.last_sequence, o3.last_timestamp, o3.coordinator_epoch, o3.current_txn_start_offset, n = _u_qiiqiqB(buf, pos)
                                    pos += 37
                                    if n == 0:
                                        o3.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a2.append(o3)
                            else:
                                raise refuse_null("active_producers")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
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
                raise refuse_null("topics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeProducersResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeProducersResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DescribeProducersResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.throttle_time_ms)
            n = len(o.topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topics:
                s = o1.name.encode()
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
                for o2 in o1.partitions:
                    w += _p_ih(o2.partition_index, o2.error_code)
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
                    n = len(o2.active_producers) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.active_producers:
                        w += _p_qiiqiq(o3.producer_id, o3.producer_epoch, o3.last_sequence, o3.last_timestamp, o3.coordinator_epoch, o3.current_txn_start_offset)
                        if o3.unknown_tags:
                            put_tags(w, {}, o3.unknown_tags)
                        else:
                            w.append(0)
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
            raise EncodeError(f"DescribeProducersResponse v{version}: {error}") from error


class TopicResponse(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionResponse(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "active_producers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is FRESH else active_producers
        self.unknown_tags = unknown_tags


class ProducerState(Message):
    __slots__ = (
        "producer_id",
        "producer_epoch",
        "last_sequence",
        "last_timestamp",
        "coordinator_epoch",
        "current_txn_start_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset
        self.unknown_tags = unknown_tags
