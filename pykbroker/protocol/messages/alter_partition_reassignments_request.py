"""AlterPartitionReassignmentsRequest (request 45, versions 0-1).

Generated from schemas/api/alter_partition_reassignments.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_o = Struct(">?").pack
_p_i = Struct(">i").pack


class AlterPartitionReassignmentsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "allow_replication_factor_change",
        "topics",
        "unknown_tags",
    )

    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("AlterPartitionReassignmentsRequest", version)
        o = _new(cls)
        try:
            left = most
            (o.timeout_ms,) = _u_i(buf, pos)
            pos += 4
            if version >= 1:
                o.allow_replication_factor_change = buf[pos] != 0
                pos += 1
            else:
                o.allow_replication_factor_change = True
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
                    o1 = _new(ReassignableTopic)
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
                        if n * 6 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(ReassignablePartition)
                            o2.partition_index, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > most:
                                    raise refuse_count("replicas", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("replicas")
                                if n < 16:
                                    o2.replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                    o2.replicas = None
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
            raise DecodeError(f"AlterPartitionReassignmentsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterPartitionReassignmentsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"AlterPartitionReassignmentsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.timeout_ms)
            if version >= 1:
                w += _p_o(o.allow_replication_factor_change)
            elif not o.allow_replication_factor_change:
                raise refuse_field("allow_replication_factor_change", version)
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
                    w += _p_i(o2.partition_index)
                    if o2.replicas is None:
                        w.append(0)
                    else:
                        n = len(o2.replicas) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.replicas)
                        else:
                            w += pack(f">{len(o2.replicas)}i", *o2.replicas)
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
            raise EncodeError(f"AlterPartitionReassignmentsRequest v{version}: {error}") from error


class ReassignableTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class ReassignablePartition(Message):
    __slots__ = (
        "partition_index",
        "replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.unknown_tags = unknown_tags
