"""DescribeTopicPartitionsResponse (response 75, versions 0-0).

Generated from schemas/api/describe_topic_partitions.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uoB = Struct(">16s?B").unpack_from
_u_b = Struct(">b").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hiiiB = Struct(">hiiiB").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_uo = Struct(">16s?").pack
_p_h = Struct(">h").pack
_p_hiii = Struct(">hiii").pack
_p_i = Struct(">i").pack


class DescribeTopicPartitionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "next_cursor",
        "unknown_tags",
    )

    API_KEY = 75
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = FRESH,
        next_cursor: Cursor | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is FRESH else topics
        self.next_cursor = next_cursor
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DescribeTopicPartitionsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 26 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(DescribeTopicPartitionsResponseTopic)
                    o1.error_code, n = _u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o1.name = None
                    o1.topic_id, o1.is_internal, n = _u_uoB(buf, pos)
                    pos += 18
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 20 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(DescribeTopicPartitionsResponsePartition)
                            o2.error_code, o2.partition_index, o2.leader_id, o2.leader_epoch, n = _u_hiiiB(buf, pos)
                            pos += 15
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("replica_nodes", n, len(buf) - pos)
                                if n < 16:
                                    o2.replica_nodes = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("replica_nodes")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("isr_nodes", n, len(buf) - pos)
                                if n < 16:
                                    o2.isr_nodes = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("isr_nodes")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("eligible_leader_replicas", n, len(buf) - pos)
                                if n < 16:
                                    o2.eligible_leader_replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.eligible_leader_replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                    o2.eligible_leader_replicas = None
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("last_known_elr", n, len(buf) - pos)
                                if n < 16:
                                    o2.last_known_elr = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.last_known_elr = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                    o2.last_known_elr = None
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("offline_replicas", n, len(buf) - pos)
                                if n < 16:
                                    o2.offline_replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("offline_replicas")
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
                    o1.topic_authorized_operations, n = _u_iB(buf, pos)
                    pos += 5
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("topics")
            (n,) = _u_b(buf, pos)
            pos += 1
            if n < 0:
                o.next_cursor = None
            else:
                o.next_cursor, pos = _read_Cursor(buf, pos, version)
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeTopicPartitionsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeTopicPartitionsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DescribeTopicPartitionsResponse has no version {version}")
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
                w += _p_h(o1.error_code)
                if o1.name is None:
                    w.append(0)
                else:
                    s = o1.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_uo(o1.topic_id, o1.is_internal)
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partitions:
                    w += _p_hiii(o2.error_code, o2.partition_index, o2.leader_id, o2.leader_epoch)
                    n = len(o2.replica_nodes) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.replica_nodes)
                    else:
                        w += pack(f">{len(o2.replica_nodes)}i", *o2.replica_nodes)
                    n = len(o2.isr_nodes) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.isr_nodes)
                    else:
                        w += pack(f">{len(o2.isr_nodes)}i", *o2.isr_nodes)
                    if o2.eligible_leader_replicas is None:
                        w.append(0)
                    else:
                        n = len(o2.eligible_leader_replicas) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.eligible_leader_replicas)
                        else:
                            w += pack(f">{len(o2.eligible_leader_replicas)}i", *o2.eligible_leader_replicas)
                    if o2.last_known_elr is None:
                        w.append(0)
                    else:
                        n = len(o2.last_known_elr) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.last_known_elr)
                        else:
                            w += pack(f">{len(o2.last_known_elr)}i", *o2.last_known_elr)
                    n = len(o2.offline_replicas) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.offline_replicas)
                    else:
                        w += pack(f">{len(o2.offline_replicas)}i", *o2.offline_replicas)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o1.topic_authorized_operations)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.next_cursor is None:
                w.append(255)
            else:
                w.append(1)
                _write_Cursor(o.next_cursor, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeTopicPartitionsResponse v{version}: {error}") from error


class DescribeTopicPartitionsResponseTopic(Message):
    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = FRESH,
        topic_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is FRESH else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags = unknown_tags


class DescribeTopicPartitionsResponsePartition(Message):
    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = FRESH,
        isr_nodes: list[int] = FRESH,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is FRESH else replica_nodes
        self.isr_nodes = [] if isr_nodes is FRESH else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is FRESH else offline_replicas
        self.unknown_tags = unknown_tags


class Cursor(Message):
    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags


def _read_Cursor(buf: bytes | memoryview, pos: int, version: int) -> tuple[Cursor, int]:
    o = _new(Cursor)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.topic_name = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("topic_name")
    o.partition_index, n = _u_iB(buf, pos)
    pos += 5
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Cursor(o: Cursor, w: bytearray, version: int) -> None:
    s = o.topic_name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_i(o.partition_index)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
