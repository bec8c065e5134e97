"""WriteTxnMarkersRequest (request 27, versions 1-2).

Generated from schemas/api/write_txn_markers.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_u_i = Struct(">i").unpack_from
_u_qhoB = Struct(">qh?B").unpack_from
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_qho = Struct(">qh?").pack


class WriteTxnMarkersRequest(Message):
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
        markers: list[WritableTxnMarker] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.markers = [] if markers is FRESH else markers
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("WriteTxnMarkersRequest", version)
        o = _new(cls)
        try:
            left = most
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 17 > len(buf) - pos or n > most:
                    raise refuse_count("markers", n, len(buf) - pos)
                o.markers = a = []
                for _ in range(n):
                    o1 = _new(WritableTxnMarker)
                    o1.producer_id, o1.producer_epoch, o1.transaction_result, n = _u_qhoB(buf, pos)
                    pos += 12
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > most:
                            raise refuse_count("topics", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("topics")
                        o1.topics = a1 = []
                        for _ in range(n):
                            o2 = _new(WritableTxnMarkerTopic)
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
                                if n * 4 > len(buf) - pos or n > most:
                                    raise refuse_count("partition_indexes", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("partition_indexes")
                                if n < 16:
                                    o2.partition_indexes = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("partition_indexes")
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
                    (o1.coordinator_epoch,) = _u_i(buf, pos)
                    pos += 4
                    if version >= 2:
                        (o1.transaction_version,) = _u_b(buf, pos)
                        pos += 1
                    else:
                        o1.transaction_version = 0
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
            raise DecodeError(f"WriteTxnMarkersRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"WriteTxnMarkersRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"WriteTxnMarkersRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.markers) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.markers:
                w += _p_qho(o1.producer_id, o1.producer_epoch, o1.transaction_result)
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
                    n = len(o2.partition_indexes) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.partition_indexes)
                    else:
                        w += pack(f">{len(o2.partition_indexes)}i", *o2.partition_indexes)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o1.coordinator_epoch)
                if version >= 2:
                    w += _p_b(o1.transaction_version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"WriteTxnMarkersRequest v{version}: {error}") from error


class WritableTxnMarker(Message):
    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = FRESH,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is FRESH else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        self.unknown_tags = unknown_tags


class WritableTxnMarkerTopic(Message):
    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is FRESH else partition_indexes
        self.unknown_tags = unknown_tags
