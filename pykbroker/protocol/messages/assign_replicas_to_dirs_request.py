"""AssignReplicasToDirsRequest (request 73, versions 0-0).

Generated from schemas/api/assign_replicas_to_dirs.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_u = Struct(">16s").pack
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack


class AssignReplicasToDirsRequest(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "directories",
        "unknown_tags",
    )

    API_KEY = 73
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[DirectoryData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is FRESH else directories
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AssignReplicasToDirsRequest", version)
        o = _new(cls)
        try:
            left = most
            o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
            pos += 13
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > most:
                    raise refuse_count("directories", n, len(buf) - pos)
                o.directories = a = []
                for _ in range(n):
                    o1 = _new(DirectoryData)
                    o1.id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 18 > len(buf) - pos or n > most:
                            raise refuse_count("topics", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("topics")
                        o1.topics = a1 = []
                        for _ in range(n):
                            o2 = _new(TopicData)
                            o2.topic_id, n = _u_uB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 5 > len(buf) - pos or n > most:
                                    raise refuse_count("partitions", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("partitions")
                                o2.partitions = a2 = []
                                for _ in range(n):
                                    o3 = _new(PartitionData)
                                    o3.partition_index, n = _u_iB(buf, pos)
                                    pos += 5
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
                raise refuse_null("directories")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AssignReplicasToDirsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AssignReplicasToDirsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AssignReplicasToDirsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iq(o.broker_id, o.broker_epoch)
            n = len(o.directories) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.directories:
                w += _p_u(o1.id)
                n = len(o1.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.topics:
                    w += _p_u(o2.topic_id)
                    n = len(o2.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.partitions:
                        w += _p_i(o3.partition_index)
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
            raise EncodeError(f"AssignReplicasToDirsRequest v{version}: {error}") from error


class DirectoryData(Message):
    __slots__ = (
        "id",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        topics: list[TopicData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class TopicData(Message):
    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionData(Message):
    __slots__ = (
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tags = unknown_tags
