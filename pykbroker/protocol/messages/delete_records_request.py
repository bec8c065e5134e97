"""DeleteRecordsRequest (request 21, versions 0-2).

Generated from schemas/api/delete_records.txt by pykbroker.protocol.generate: do not edit.
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
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iq = Struct(">iq").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack


class DeleteRecordsRequest(Message):
    __slots__ = (
        "topics",
        "timeout_ms",
        "unknown_tags",
    )

    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        topics: list[DeleteRecordsTopic] = FRESH,
        timeout_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("DeleteRecordsRequest", version)
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
                        o1 = _new(DeleteRecordsTopic)
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
                            if n * 13 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(DeleteRecordsPartition)
                                o2.partition_index, o2.offset, n = _u_iqB(buf, pos)
                                pos += 13
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
                o.timeout_ms, n = _u_iB(buf, pos)
                pos += 5
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
                        o1 = _new(DeleteRecordsTopic)
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
                                o2 = _new(DeleteRecordsPartition)
                                o2.partition_index, o2.offset = _u_iq(buf, pos)
                                pos += 12
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                (o.timeout_ms,) = _u_i(buf, pos)
                pos += 4
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteRecordsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteRecordsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"DeleteRecordsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
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
                        w += _p_iq(o2.partition_index, o2.offset)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o.timeout_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
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
                        w += _p_iq(o2.partition_index, o2.offset)
                w += _p_i(o.timeout_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteRecordsRequest v{version}: {error}") from error


class DeleteRecordsTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DeleteRecordsPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class DeleteRecordsPartition(Message):
    __slots__ = (
        "partition_index",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset
        self.unknown_tags = unknown_tags
