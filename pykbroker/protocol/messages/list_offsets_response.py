"""ListOffsetsResponse (response 2, versions 1-11).

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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihqq = Struct(">ihqq").unpack_from
_u_ihqqiB = Struct(">ihqqiB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ihqq = Struct(">ihqq").pack
_p_ihqqi = Struct(">ihqqi").pack


class ListOffsetsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
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
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 11:
            raise refuse_version("ListOffsetsResponse", version)
        o = _new(cls)
        try:
            if version >= 6:
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
                        o1 = _new(ListOffsetsTopicResponse)
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
                            if n * 27 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(ListOffsetsPartitionResponse)
                                o2.partition_index, o2.error_code, o2.timestamp, o2.offset, o2.leader_epoch, n = _u_ihqqiB(buf, pos)
                                pos += 27
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
            else:
                if version >= 2:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(ListOffsetsTopicResponse)
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
                            if n * 22 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(ListOffsetsPartitionResponse)
                                o2.partition_index, o2.error_code, o2.timestamp, o2.offset = _u_ihqq(buf, pos)
                                pos += 22
                                if version >= 4:
                                    (o2.leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.leader_epoch = -1
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
            raise DecodeError(f"ListOffsetsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListOffsetsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 11:
            raise EncodeError(f"ListOffsetsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
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
                        w += _p_ihqqi(o2.partition_index, o2.error_code, o2.timestamp, o2.offset, o2.leader_epoch)
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
                if version >= 2:
                    w += _p_i(o.throttle_time_ms)
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
                        w += _p_ihqq(o2.partition_index, o2.error_code, o2.timestamp, o2.offset)
                        if version >= 4:
                            w += _p_i(o2.leader_epoch)
                        elif o2.leader_epoch != -1:
                            raise refuse_field("leader_epoch", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListOffsetsResponse v{version}: {error}") from error


class ListOffsetsTopicResponse(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class ListOffsetsPartitionResponse(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "timestamp",
        "offset",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags
