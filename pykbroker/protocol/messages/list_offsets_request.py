"""ListOffsetsRequest (request 2, versions 1-11).

Generated from schemas/api/list_offsets.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_ibB = Struct(">ibB").unpack_from
_u_iiqB = Struct(">iiqB").unpack_from
_u_q = Struct(">q").unpack_from
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ib = Struct(">ib").pack
_p_iiq = Struct(">iiq").pack
_p_q = Struct(">q").pack


class ListOffsetsRequest(Message):
    __slots__ = (
        "replica_id",
        "isolation_level",
        "topics",
        "timeout_ms",
        "unknown_tags",
    )

    API_KEY = 2
    MIN_VERSION = 1
    MAX_VERSION = 11
    LATEST_VERSION = 11
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        *,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = FRESH,
        timeout_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is FRESH else topics
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 11:
            raise refuse_version("ListOffsetsRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 6:
                o.replica_id, o.isolation_level, n = _u_ibB(buf, pos)
                pos += 6
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(ListOffsetsTopic)
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
                            if n * 17 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(ListOffsetsPartition)
                                o2.partition_index, o2.current_leader_epoch, o2.timestamp, n = _u_iiqB(buf, pos)
                                pos += 17
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
                if version >= 10:
                    (o.timeout_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.timeout_ms = 0
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (o.replica_id,) = _u_i(buf, pos)
                pos += 4
                if version >= 2:
                    (o.isolation_level,) = _u_b(buf, pos)
                    pos += 1
                else:
                    o.isolation_level = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(ListOffsetsTopic)
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
                            if n * 12 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(ListOffsetsPartition)
                                (o2.partition_index,) = _u_i(buf, pos)
                                pos += 4
                                if version >= 4:
                                    (o2.current_leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.current_leader_epoch = -1
                                (o2.timestamp,) = _u_q(buf, pos)
                                pos += 8
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                o.timeout_ms = 0
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListOffsetsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListOffsetsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 11:
            raise EncodeError(f"ListOffsetsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
                w += _p_ib(o.replica_id, o.isolation_level)
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
                        w += _p_iiq(o2.partition_index, o2.current_leader_epoch, o2.timestamp)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if version >= 10:
                    w += _p_i(o.timeout_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(o.replica_id)
                if version >= 2:
                    w += _p_b(o.isolation_level)
                elif o.isolation_level != 0:
                    raise refuse_field("isolation_level", version)
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
                        if version >= 4:
                            w += _p_i(o2.current_leader_epoch)
                        w += _p_q(o2.timestamp)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListOffsetsRequest v{version}: {error}") from error


class ListOffsetsTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class ListOffsetsPartition(Message):
    __slots__ = (
        "partition_index",
        "current_leader_epoch",
        "timestamp",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        self.unknown_tags = unknown_tags
