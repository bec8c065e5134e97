"""ShareFetchRequest (request 78, versions 1-2).

Generated from schemas/api/share_fetch.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_bo = Struct(">b?").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iiiiii = Struct(">iiiiii").unpack_from
_u_qqB = Struct(">qqB").unpack_from
_p_u = Struct(">16s").pack
_p_bo = Struct(">b?").pack
_p_i = Struct(">i").pack
_p_iiiiii = Struct(">iiiiii").pack
_p_qq = Struct(">qq").pack


class ShareFetchRequest(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "max_records",
        "batch_size",
        "share_acquire_mode",
        "is_renew_ack",
        "topics",
        "forgotten_topics_data",
        "unknown_tags",
    )

    API_KEY = 78
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[FetchTopic] = FRESH,
        forgotten_topics_data: list[ForgottenTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is FRESH else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is FRESH else forgotten_topics_data
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("ShareFetchRequest", version)
        o = _new(cls)
        try:
            left = most
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.group_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.group_id = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.member_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.member_id = None
            o.share_session_epoch, o.max_wait_ms, o.min_bytes, o.max_bytes, o.max_records, o.batch_size = _u_iiiiii(buf, pos)
            pos += 24
            if version >= 2:
                o.share_acquire_mode, o.is_renew_ack = _u_bo(buf, pos)
                pos += 2
            else:
                o.share_acquire_mode = 0
                o.is_renew_ack = False
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > most:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(FetchTopic)
                    o1.topic_id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 6 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(FetchPartition)
                            o2.partition_index, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 18 > len(buf) - pos or n > most:
                                    raise refuse_count("acknowledgement_batches", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("acknowledgement_batches")
                                o2.acknowledgement_batches = a2 = []
                                for _ in range(n):
                                    o3 = _new(AcknowledgementBatch)
                                    o3.first_offset, o3.last_offset, n = _u_qqB(buf, pos)
                                    pos += 17
                                    if n > 127:
                                        n, pos = read_length(buf, pos - 1)
                                    if n > 0:
                                        n -= 1
                                        if n > len(buf) - pos or n > most:
                                            raise refuse_count("acknowledge_types", n, len(buf) - pos)
                                        left -= n
                                        if left < 0:
                                            raise refuse_total("acknowledge_types")
                                        o3.acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                                        pos += n
                                    else:
                                        raise refuse_null("acknowledge_types")
                                    n = buf[pos]
                                    pos += 1
                                    if n == 0:
                                        o3.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a2.append(o3)
                            else:
                                raise refuse_null("acknowledgement_batches")
                            n = buf[pos]
                            pos += 1
                            o2.partition_max_bytes = 0
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
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > most:
                    raise refuse_count("forgotten_topics_data", n, len(buf) - pos)
                o.forgotten_topics_data = a = []
                for _ in range(n):
                    o1 = _new(ForgottenTopic)
                    o1.topic_id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 4 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        if n < 16:
                            o1.partitions = [*READ_INT32S[n](buf, pos)]
                        else:
                            o1.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
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
                raise refuse_null("forgotten_topics_data")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareFetchRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareFetchRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"ShareFetchRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.group_id is None:
                w.append(0)
            else:
                s = o.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.member_id is None:
                w.append(0)
            else:
                s = o.member_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            w += _p_iiiiii(o.share_session_epoch, o.max_wait_ms, o.min_bytes, o.max_bytes, o.max_records, o.batch_size)
            if version >= 2:
                w += _p_bo(o.share_acquire_mode, o.is_renew_ack)
            elif o.is_renew_ack:
                raise refuse_field("is_renew_ack", version)
            n = len(o.topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topics:
                w += _p_u(o1.topic_id)
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partitions:
                    if o2.partition_max_bytes != 0:
                        raise refuse_field("partition_max_bytes", version)
                    w += _p_i(o2.partition_index)
                    n = len(o2.acknowledgement_batches) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.acknowledgement_batches:
                        w += _p_qq(o3.first_offset, o3.last_offset)
                        n = len(o3.acknowledge_types) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        w += pack(f">{len(o3.acknowledge_types)}b", *o3.acknowledge_types)
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
            n = len(o.forgotten_topics_data) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.forgotten_topics_data:
                w += _p_u(o1.topic_id)
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                if n < 17:
                    w += PACK_INT32S[n - 1](*o1.partitions)
                else:
                    w += pack(f">{len(o1.partitions)}i", *o1.partitions)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareFetchRequest v{version}: {error}") from error


class FetchTopic(Message):
    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class FetchPartition(Message):
    __slots__ = (
        "partition_index",
        "partition_max_bytes",
        "acknowledgement_batches",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_max_bytes: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.partition_max_bytes = partition_max_bytes
        self.acknowledgement_batches = [] if acknowledgement_batches is FRESH else acknowledgement_batches
        self.unknown_tags = unknown_tags


class AcknowledgementBatch(Message):
    __slots__ = (
        "first_offset",
        "last_offset",
        "acknowledge_types",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is FRESH else acknowledge_types
        self.unknown_tags = unknown_tags


class ForgottenTopic(Message):
    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags
