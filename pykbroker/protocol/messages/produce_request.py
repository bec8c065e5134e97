"""ProduceRequest (request 0, versions 3-13).

Generated from schemas/api/produce.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import AnyPart, Parts, open_tail, part_size, put_part
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
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_hiB = Struct(">hiB").unpack_from
_u_hii = Struct(">hii").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack
_p_hii = Struct(">hii").pack
_p_i = Struct(">i").pack


class ProduceRequest(Message):
    __slots__ = (
        "transactional_id",
        "acks",
        "timeout_ms",
        "topic_data",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 3
    MAX_VERSION = 13
    LATEST_VERSION = 13
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is FRESH else topic_data
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 3 <= version <= 13:
            raise refuse_version("ProduceRequest", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            left = most
            if version >= 9:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.transactional_id = None
                o.acks, o.timeout_ms, n = _u_hiB(buf, pos)
                pos += 7
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("topic_data", n, len(buf) - pos)
                    o.topic_data = a = []
                    for _ in range(n):
                        o1 = _new(TopicProduceData)
                        if version <= 12:
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
                        else:
                            o1.name = ""
                        if version >= 13:
                            (o1.topic_id,) = _u_u(buf, pos)
                            pos += 16
                        else:
                            o1.topic_id = ZERO_UUID
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 6 > len(buf) - pos or n > most:
                                raise refuse_count("partition_data", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partition_data")
                            o1.partition_data = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionProduceData)
                                o2.index, n = _u_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.records = buf[pos:e]
                                    pos = e
                                else:
                                    o2.records = None
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("partition_data")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("topic_data")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.transactional_id = None
                o.acks, o.timeout_ms, n = _u_hii(buf, pos)
                pos += 10
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topic_data", n, len(buf) - pos)
                    o.topic_data = a = []
                    for _ in range(n):
                        o1 = _new(TopicProduceData)
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
                            if n * 8 > len(buf) - pos or n > most:
                                raise refuse_count("partition_data", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partition_data")
                            o1.partition_data = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionProduceData)
                                o2.index, n = _u_ii(buf, pos)
                                pos += 8
                                if n >= 0:
                                    e = pos + n
                                    o2.records = buf[pos:e]
                                    pos = e
                                else:
                                    o2.records = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partition_data")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topic_data")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ProduceRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ProduceRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 3 <= version <= 13:
            raise EncodeError(f"ProduceRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 9:
                if o.transactional_id is None:
                    w.append(0)
                else:
                    s = o.transactional_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_hi(o.acks, o.timeout_ms)
                n = len(o.topic_data) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.topic_data:
                    if version <= 12:
                        s = o1.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 13:
                        w += _p_u(o1.topic_id)
                    n = len(o1.partition_data) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partition_data:
                        w += _p_i(o2.index)
                        if o2.records is None:
                            w.append(0)
                        else:
                            size = part_size(o2.records)
                            n = size + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_uvarint(w, n)
                            w = put_part(out, w, o2.records, size)
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
                if o.transactional_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.transactional_id.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_hii(o.acks, o.timeout_ms, len(o.topic_data))
                for o1 in o.topic_data:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partition_data))
                    for o2 in o1.partition_data:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_i(o2.index)
                        if o2.records is None:
                            w += b"\xff\xff\xff\xff"
                        else:
                            size = part_size(o2.records)
                            w += _p_i(size)
                            w = put_part(out, w, o2.records, size)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ProduceRequest v{version}: {error}") from error


class TopicProduceData(Message):
    __slots__ = (
        "name",
        "topic_id",
        "partition_data",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is FRESH else partition_data
        self.unknown_tags = unknown_tags


class PartitionProduceData(Message):
    __slots__ = (
        "index",
        "records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        records: AnyPart | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.records = records
        self.unknown_tags = unknown_tags
