"""WriteTxnMarkersResponse (response 27, versions 1-2).

Generated from schemas/api/write_txn_markers.txt by pykbroker.protocol.generate: do not edit.
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
_u_ihB = Struct(">ihB").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_ih = Struct(">ih").pack
_p_q = Struct(">q").pack


class WriteTxnMarkersResponse(Message):
    __slots__ = (
        "markers",
        "unknown_tags",
    )

    API_KEY = 27
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarkerResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.markers = [] if markers is FRESH else markers
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("WriteTxnMarkersResponse", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 10 > len(buf) - pos or n > 1000000:
                    raise refuse_count("markers", n, len(buf) - pos)
                o.markers = a = []
                for _ in range(n):
                    o1 = _new(WritableTxnMarkerResult)
                    o1.producer_id, n = _u_qB(buf, pos)
                    pos += 9
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o1.topics = a1 = []
                        for _ in range(n):
                            o2 = _new(WritableTxnMarkerTopicResult)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.name = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("name")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 7 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("partitions", n, len(buf) - pos)
                                o2.partitions = a2 = []
                                for _ in range(n):
                                    o3 = _new(WritableTxnMarkerPartitionResult)
                                    o3.partition_index, o3.error_code, n = _u_ihB(buf, pos)
                                    pos += 7
                                    if n == 0:
                                        o3.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a2.append(o3)
                            else:
                                raise refuse_null("partitions")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("topics")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("markers")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"WriteTxnMarkersResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"WriteTxnMarkersResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"WriteTxnMarkersResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.markers) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.markers:
                w += _p_q(o1.producer_id)
                n = len(o1.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.topics:
                    s = o2.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o2.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.partitions:
                        w += _p_ih(o3.partition_index, o3.error_code)
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
            raise EncodeError(f"WriteTxnMarkersResponse v{version}: {error}") from error


class WritableTxnMarkerResult(Message):
    __slots__ = (
        "producer_id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class WritableTxnMarkerTopicResult(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class WritableTxnMarkerPartitionResult(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tags = unknown_tags
