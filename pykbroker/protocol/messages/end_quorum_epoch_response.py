"""EndQuorumEpochResponse (response 54, versions 0-1).

Generated from schemas/api/end_quorum_epoch.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_HB = Struct(">HB").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihii = Struct(">ihii").unpack_from
_u_ihiiB = Struct(">ihiiB").unpack_from
_p_H = Struct(">H").pack
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_ihii = Struct(">ihii").pack


class EndQuorumEpochResponse(Message):
    __slots__ = (
        "error_code",
        "topics",
        "node_endpoints",
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
        error_code: int = 0,
        topics: list[TopicData] = FRESH,
        node_endpoints: list[NodeEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is FRESH else topics
        self.node_endpoints = [] if node_endpoints is FRESH else node_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("EndQuorumEpochResponse", version)
        o = _new(cls)
        try:
            if version >= 1:
                o.error_code, n = _u_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
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
                            if n * 15 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.error_code, o2.leader_id, o2.leader_epoch, n = _u_ihiiB(buf, pos)
                                pos += 15
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
                o.node_endpoints = []
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_EndQuorumEpochResponse(o, buf, pos, version, n)
            else:
                o.error_code, n = _u_hi(buf, pos)
                pos += 6
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
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
                            if n * 14 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.error_code, o2.leader_id, o2.leader_epoch = _u_ihii(buf, pos)
                                pos += 14
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                o.node_endpoints = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EndQuorumEpochResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EndQuorumEpochResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"EndQuorumEpochResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                w += _p_h(o.error_code)
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
                        w += _p_ihii(o2.partition_index, o2.error_code, o2.leader_id, o2.leader_epoch)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if len(o.node_endpoints) != 0 or o.unknown_tags:
                    _put_tags_EndQuorumEpochResponse(o, w, version)
                else:
                    w.append(0)
            else:
                if len(o.node_endpoints) != 0:
                    raise refuse_field("node_endpoints", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_hi(o.error_code, len(o.topics))
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
                        w += _p_ihii(o2.partition_index, o2.error_code, o2.leader_id, o2.leader_epoch)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EndQuorumEpochResponse v{version}: {error}") from error


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
        "error_code",
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags


class NodeEndpoint(Message):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags


def _tags_EndQuorumEpochResponse(o: EndQuorumEpochResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 8 > len(buf) - pos or n > 1000000:
                    raise refuse_count("node_endpoints", n, len(buf) - pos)
                o.node_endpoints = a = []
                for _ in range(n):
                    x, pos = _read_NodeEndpoint(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("node_endpoints")
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_EndQuorumEpochResponse(o: EndQuorumEpochResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if len(o.node_endpoints) != 0:
        w = bytearray()
        n = len(o.node_endpoints) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.node_endpoints:
            _write_NodeEndpoint(x, w, version)
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_NodeEndpoint(buf: bytes | memoryview, pos: int, version: int) -> tuple[NodeEndpoint, int]:
    o = _new(NodeEndpoint)
    o.node_id, n = _u_iB(buf, pos)
    pos += 5
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


def _write_NodeEndpoint(o: NodeEndpoint, w: bytearray, version: int) -> None:
    s = o.host.encode()
    w += _p_i(o.node_id)
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
