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
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("EndQuorumEpochRequest", version)
        o = _new(cls)
        try:
            left = most
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
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(TopicData)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.topic_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic_name")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 14 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.leader_id, o2.leader_epoch, n = _u_iiiB(buf, pos)
                                pos += 13
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 21 > len(buf) - pos or n > most:
                                        raise refuse_count("preferred_candidates", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("preferred_candidates")
                                    o2.preferred_candidates = a2 = []
                                    for _ in range(n):
                                        o3 = _new(ReplicaInfo)
                                        o3.candidate_id, o3.candidate_directory_id, n = _u_iuB(buf, pos)
                                        pos += 21
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    raise refuse_null("preferred_candidates")
                                n = buf[pos]
                                pos += 1
                                o2.preferred_successors = []
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
                    if n * 5 > len(buf) - pos or n > most:
                        raise refuse_count("leader_endpoints", n, len(buf) - pos)
                    o.leader_endpoints = a = []
                    for _ in range(n):
                        o1 = _new(LeaderEndpoint)
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
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("host")
                        o1.port, n = _u_HB(buf, pos)
                        pos += 3
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
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
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(TopicData)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.topic_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic_name")
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
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.leader_id, o2.leader_epoch, n = _u_iiii(buf, pos)
                                pos += 16
                                if n >= 0:
                                    if n * 4 > len(buf) - pos or n > most:
                                        raise refuse_count("preferred_successors", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("preferred_successors")
                                    if n < 16:
                                        o2.preferred_successors = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.preferred_successors = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("preferred_successors")
                                o2.preferred_candidates = []
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
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
                for o1 in o.topics:
                    s = o1.topic_name.encode()
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
                        w += _p_iii(o2.partition_index, o2.leader_id, o2.leader_epoch)
                        n = len(o2.preferred_candidates) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o3 in o2.preferred_candidates:
                            w += _p_iu(o3.candidate_id, o3.candidate_directory_id)
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
                n = len(o.leader_endpoints) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.leader_endpoints:
                    s = o1.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.host.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_H(o1.port)
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
                if o.cluster_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.cluster_id.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(len(o.topics))
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.topic_name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partitions))
                    for o2 in o1.partitions:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_iiii(o2.partition_index, o2.leader_id, o2.leader_epoch, len(o2.preferred_successors))
                        if len(o2.preferred_successors) < 16:
                            w += PACK_INT32S[len(o2.preferred_successors)](*o2.preferred_successors)
                        else:
                            w += pack(f">{len(o2.preferred_successors)}i", *o2.preferred_successors)
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
