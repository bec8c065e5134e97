"""EndQuorumEpochRequest (request 54, versions 0-1).

Generated from schemas/api/end_quorum_epoch.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_HB = Struct(">HB").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iuB = Struct(">i16sB").unpack_from
_u_iiiB = Struct(">iiiB").unpack_from
_u_iiii = Struct(">iiii").unpack_from
_p_H = Struct(">H").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_iu = Struct(">i16s").pack
_p_iii = Struct(">iii").pack
_p_iiii = Struct(">iiii").pack


class EndQuorumEpochRequest(Message):
    __slots__ = (
        "cluster_id",
        "topics",
        "leader_endpoints",
        "unknown_tags",
    )

    API_KEY = 54
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        topics: list[TopicData] = FRESH,
        leader_endpoints: list[LeaderEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.topics = [] if topics is FRESH else topics
        self.leader_endpoints = [] if leader_endpoints is FRESH else leader_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("EndQuorumEpochRequest", version)
        o = _new(cls)
        try:
            if version >= 1:
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
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        x, pos = _read_TopicData(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("topics")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("leader_endpoints", n, len(buf) - pos)
                    o.leader_endpoints = a = []
                    for _ in range(n):
                        x, pos = _read_LeaderEndpoint(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("leader_endpoints")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.cluster_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.cluster_id = None
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        x, pos = _read_TopicData(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("topics")
                o.leader_endpoints = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EndQuorumEpochRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EndQuorumEpochRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"EndQuorumEpochRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
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
                n = len(o.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.topics:
                    _write_TopicData(x, w, version)
                n = len(o.leader_endpoints) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.leader_endpoints:
                    _write_LeaderEndpoint(x, w, version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if o.cluster_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.cluster_id.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(len(o.topics))
                for x in o.topics:
                    _write_TopicData(x, w, version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EndQuorumEpochRequest v{version}: {error}") from error


class TopicData(Message):
    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[PartitionData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionData(Message):
    __slots__ = (
        "partition_index",
        "leader_id",
        "leader_epoch",
        "preferred_successors",
        "preferred_candidates",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        preferred_successors: list[int] = FRESH,
        preferred_candidates: list[ReplicaInfo] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.preferred_successors = [] if preferred_successors is FRESH else preferred_successors
        self.preferred_candidates = [] if preferred_candidates is FRESH else preferred_candidates
        self.unknown_tags = unknown_tags


class ReplicaInfo(Message):
    __slots__ = (
        "candidate_id",
        "candidate_directory_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        candidate_id: int = 0,
        candidate_directory_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.candidate_id = candidate_id
        self.candidate_directory_id = candidate_directory_id
        self.unknown_tags = unknown_tags


class LeaderEndpoint(Message):
    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags


def _read_TopicData(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicData, int]:
    o = _new(TopicData)
    if version >= 1:
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 14 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_PartitionData(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        n = buf[pos]
        pos += 1
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        (n,) = _u_h(buf, pos)
        pos += 2
        if n >= 0:
            e = pos + n
            o.topic_name = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("topic_name")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 16 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_PartitionData(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        o.unknown_tags = None
    return o, pos


def _write_TopicData(o: TopicData, w: bytearray, version: int) -> None:
    if version >= 1:
        s = o.topic_name.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o.partitions) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.partitions:
            _write_PartitionData(x, w, version)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.topic_name.encode()
        w += _p_h(len(s))
        w += s
        w += _p_i(len(o.partitions))
        for x in o.partitions:
            _write_PartitionData(x, w, version)


def _read_PartitionData(buf: bytes | memoryview, pos: int, version: int) -> tuple[PartitionData, int]:
    o = _new(PartitionData)
    if version >= 1:
        o.partition_index, o.leader_id, o.leader_epoch, n = _u_iiiB(buf, pos)
        pos += 13
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 21 > len(buf) - pos or n > 1000000:
                raise refuse_count("preferred_candidates", n, len(buf) - pos)
            o.preferred_candidates = a = []
            for _ in range(n):
                x, pos = _read_ReplicaInfo(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("preferred_candidates")
        n = buf[pos]
        pos += 1
        o.preferred_successors = []
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.partition_index, o.leader_id, o.leader_epoch, n = _u_iiii(buf, pos)
        pos += 16
        if n >= 0:
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("preferred_successors", n, len(buf) - pos)
            o.preferred_successors = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("preferred_successors")
        o.preferred_candidates = []
        o.unknown_tags = None
    return o, pos


def _write_PartitionData(o: PartitionData, w: bytearray, version: int) -> None:
    if version >= 1:
        w += _p_iii(o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.preferred_candidates) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.preferred_candidates:
            _write_ReplicaInfo(x, w, version)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        w += _p_iiii(o.partition_index, o.leader_id, o.leader_epoch, len(o.preferred_successors))
        w += pack(f">{len(o.preferred_successors)}i", *o.preferred_successors)


def _read_ReplicaInfo(buf: bytes | memoryview, pos: int, version: int) -> tuple[ReplicaInfo, int]:
    o = _new(ReplicaInfo)
    o.candidate_id, o.candidate_directory_id, n = _u_iuB(buf, pos)
    pos += 21
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_ReplicaInfo(o: ReplicaInfo, w: bytearray, version: int) -> None:
    w += _p_iu(o.candidate_id, o.candidate_directory_id)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_LeaderEndpoint(buf: bytes | memoryview, pos: int, version: int) -> tuple[LeaderEndpoint, int]:
    o = _new(LeaderEndpoint)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.name = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("name")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.host = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("host")
    o.port, n = _u_HB(buf, pos)
    pos += 3
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_LeaderEndpoint(o: LeaderEndpoint, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    s = o.host.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_H(o.port)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
