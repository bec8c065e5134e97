"""FetchRequest (request 1, versions 4-18).

Generated from schemas/api/fetch.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
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
_u_i = Struct(">i").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_iiibiiB = Struct(">iiibiiB").unpack_from
_u_iiiib = Struct(">iiiib").unpack_from
_u_iiqiqiB = Struct(">iiqiqiB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_u_q = Struct(">q").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack
_p_iiibii = Struct(">iiibii").pack
_p_iiiib = Struct(">iiiib").pack
_p_iiqiqi = Struct(">iiqiqi").pack
_p_iq = Struct(">iq").pack
_p_q = Struct(">q").pack


class FetchRequest(Message):
    __slots__ = (
        "cluster_id",
        "replica_id",
        "replica_state",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
        "unknown_tags",
    )

    API_KEY = 1
    MIN_VERSION = 4
    MAX_VERSION = 18
    LATEST_VERSION = 18
    FLEXIBLE_FROM = 12

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = FRESH,
        forgotten_topics_data: list[ForgottenTopic] = FRESH,
        rack_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is FRESH else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is FRESH else forgotten_topics_data
        self.rack_id = rack_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 4 <= version <= 18:
            raise refuse_version("FetchRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 12:
                if version <= 14:
                    (o.replica_id,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.replica_id = -1
                o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n = _u_iiibiiB(buf, pos)
                pos += 22
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(FetchTopic)
                        if version <= 12:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.topic = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("topic")
                        else:
                            o1.topic = ""
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
                            if n * 33 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(FetchPartition)
                                o2.partition, o2.current_leader_epoch, o2.fetch_offset, o2.last_fetched_epoch, o2.log_start_offset, o2.partition_max_bytes, n = _u_iiqiqiB(buf, pos)
                                pos += 33
                                o2.replica_directory_id = ZERO_UUID
                                o2.high_watermark = 9223372036854775807
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    pos = _tags_FetchPartition(o2, buf, pos, version, n)
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
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("forgotten_topics_data", n, len(buf) - pos)
                    o.forgotten_topics_data = a = []
                    for _ in range(n):
                        o1 = _new(ForgottenTopic)
                        if version <= 12:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.topic = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("topic")
                        else:
                            o1.topic = ""
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
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.rack_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("rack_id")
                n = buf[pos]
                pos += 1
                o.cluster_id = None
                o.replica_state = None
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_FetchRequest(o, buf, pos, version, n)
            else:
                o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level = _u_iiiib(buf, pos)
                pos += 17
                if version >= 7:
                    o.session_id, o.session_epoch = _u_ii(buf, pos)
                    pos += 8
                else:
                    o.session_id = 0
                    o.session_epoch = -1
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(FetchTopic)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 16 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(FetchPartition)
                                (o2.partition,) = _u_i(buf, pos)
                                pos += 4
                                if version >= 9:
                                    (o2.current_leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.current_leader_epoch = -1
                                (o2.fetch_offset,) = _u_q(buf, pos)
                                pos += 8
                                if version >= 5:
                                    (o2.log_start_offset,) = _u_q(buf, pos)
                                    pos += 8
                                else:
                                    o2.log_start_offset = -1
                                (o2.partition_max_bytes,) = _u_i(buf, pos)
                                pos += 4
                                o2.last_fetched_epoch = -1
                                o2.replica_directory_id = ZERO_UUID
                                o2.high_watermark = 9223372036854775807
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                if version >= 7:
                    (n,) = _u_i(buf, pos)
                    pos += 4
                    if n >= 0:
                        if n * 6 > len(buf) - pos or n > most:
                            raise refuse_count("forgotten_topics_data", n, len(buf) - pos)
                        o.forgotten_topics_data = a = []
                        for _ in range(n):
                            o1 = _new(ForgottenTopic)
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.topic = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("topic")
                            (n,) = _u_i(buf, pos)
                            pos += 4
                            if n >= 0:
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
                            o1.topic_id = ZERO_UUID
                            o1.unknown_tags = None
                            a.append(o1)
                    else:
                        raise refuse_null("forgotten_topics_data")
                else:
                    o.forgotten_topics_data = []
                if version >= 11:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.rack_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("rack_id")
                else:
                    o.rack_id = ""
                o.cluster_id = None
                o.replica_state = None
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FetchRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FetchRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 4 <= version <= 18:
            raise EncodeError(f"FetchRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 12:
                if not (version >= 15) and (o.replica_state is not None and o.replica_state != ReplicaState()):
                    raise refuse_field("replica_state", version)
                if version <= 14:
                    w += _p_i(o.replica_id)
                elif o.replica_id != -1:
                    raise refuse_field("replica_id", version)
                w += _p_iiibii(o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
                n = len(o.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.topics:
                    if version <= 12:
                        s = o1.topic.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 13:
                        w += _p_u(o1.topic_id)
                    n = len(o1.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partitions:
                        w += _p_iiqiqi(o2.partition, o2.current_leader_epoch, o2.fetch_offset, o2.last_fetched_epoch, o2.log_start_offset, o2.partition_max_bytes)
                        if o2.replica_directory_id != ZERO_UUID or o2.high_watermark != 9223372036854775807 or o2.unknown_tags:
                            _put_tags_FetchPartition(o2, w, version)
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
                    if version <= 12:
                        s = o1.topic.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 13:
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
                s = o.rack_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if o.cluster_id is not None or o.replica_state is not None or o.unknown_tags:
                    _put_tags_FetchRequest(o, w, version)
                else:
                    w.append(0)
            else:
                if (o.replica_state is not None and o.replica_state != ReplicaState()):
                    raise refuse_field("replica_state", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_iiiib(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level)
                if version >= 7:
                    w += _p_ii(o.session_id, o.session_epoch)
                w += _p_i(len(o.topics))
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.topic.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partitions))
                    for o2 in o1.partitions:
                        if o2.last_fetched_epoch != -1:
                            raise refuse_field("last_fetched_epoch", version)
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_i(o2.partition)
                        if version >= 9:
                            w += _p_i(o2.current_leader_epoch)
                        w += _p_q(o2.fetch_offset)
                        if version >= 5:
                            w += _p_q(o2.log_start_offset)
                        w += _p_i(o2.partition_max_bytes)
                if version >= 7:
                    w += _p_i(len(o.forgotten_topics_data))
                    for o1 in o.forgotten_topics_data:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.topic.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o1.partitions))
                        if len(o1.partitions) < 16:
                            w += PACK_INT32S[len(o1.partitions)](*o1.partitions)
                        else:
                            w += pack(f">{len(o1.partitions)}i", *o1.partitions)
                elif len(o.forgotten_topics_data) != 0:
                    raise refuse_field("forgotten_topics_data", version)
                if version >= 11:
                    s = o.rack_id.encode()
                    w += _p_h(len(s))
                    w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FetchRequest v{version}: {error}") from error


class ReplicaState(Message):
    __slots__ = (
        "replica_id",
        "replica_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        replica_id: int = -1,
        replica_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.unknown_tags = unknown_tags


class FetchTopic(Message):
    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class FetchPartition(Message):
    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
        "replica_directory_id",
        "high_watermark",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark
        self.unknown_tags = unknown_tags


class ForgottenTopic(Message):
    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _tags_FetchRequest(o: FetchRequest, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.cluster_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.cluster_id = None
        elif tag == 1:
            if not version >= 15:
                raise DecodeError(f"tag 1 is not valid for version {version}")
            o.replica_state, pos = _read_ReplicaState(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_FetchRequest(o: FetchRequest, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.cluster_id is not None:
        w = bytearray()
        if o.cluster_id is None:
            w.append(0)
        else:
            s = o.cluster_id.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
        known[0] = bytes(w)
    if version >= 15 and (o.replica_state is not None and o.replica_state != ReplicaState()):
        w = bytearray()
        _write_ReplicaState(o.replica_state, w, version)
        known[1] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_ReplicaState(buf: bytes | memoryview, pos: int, version: int) -> tuple[ReplicaState, int]:
    o = _new(ReplicaState)
    o.replica_id, o.replica_epoch, n = _u_iqB(buf, pos)
    pos += 13
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_ReplicaState(o: ReplicaState, w: bytearray, version: int) -> None:
    w += _p_iq(o.replica_id, o.replica_epoch)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _tags_FetchPartition(o: FetchPartition, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 17:
                raise DecodeError(f"tag 0 is not valid for version {version}")
            (o.replica_directory_id,) = _u_u(buf, pos)
            pos += 16
        elif tag == 1:
            if not version >= 18:
                raise DecodeError(f"tag 1 is not valid for version {version}")
            (o.high_watermark,) = _u_q(buf, pos)
            pos += 8
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_FetchPartition(o: FetchPartition, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 17 and o.replica_directory_id != ZERO_UUID:
        known[0] = _p_u(o.replica_directory_id)
    if version >= 18 and o.high_watermark != 9223372036854775807:
        known[1] = _p_q(o.high_watermark)
    put_tags(tail, known, o.unknown_tags)
