"""DescribeQuorumResponse (response 55, versions 0-2).

Generated from schemas/api/describe_quorum.txt by pykbroker.protocol.generate: do not edit.
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
_u_u = Struct(">16s").unpack_from
_u_HB = Struct(">HB").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_iiqB = Struct(">iiqB").unpack_from
_u_q = Struct(">q").unpack_from
_u_qq = Struct(">qq").unpack_from
_p_u = Struct(">16s").pack
_p_H = Struct(">H").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_iiq = Struct(">iiq").pack
_p_q = Struct(">q").pack
_p_qq = Struct(">qq").pack


class DescribeQuorumResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "topics",
        "nodes",
        "unknown_tags",
    )

    API_KEY = 55
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[TopicData] = FRESH,
        nodes: list[Node] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is FRESH else topics
        self.nodes = [] if nodes is FRESH else nodes
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("DescribeQuorumResponse", version)
        o = _new(cls)
        try:
            (o.error_code,) = _u_h(buf, pos)
            pos += 2
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.error_message = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.error_message = None
            else:
                o.error_message = ""
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
                        if n * 25 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionData)
                            o2.partition_index, o2.error_code = _u_ih(buf, pos)
                            pos += 6
                            if version >= 2:
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.error_message = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.error_message = None
                            else:
                                o2.error_message = ""
                            o2.leader_id, o2.leader_epoch, o2.high_watermark, n = _u_iiqB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 13 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("current_voters", n, len(buf) - pos)
                                o2.current_voters = a2 = []
                                for _ in range(n):
                                    x, pos = _read_ReplicaState(buf, pos, version)
                                    a2.append(x)
                            else:
                                raise refuse_null("current_voters")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 13 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("observers", n, len(buf) - pos)
                                o2.observers = a2 = []
                                for _ in range(n):
                                    x, pos = _read_ReplicaState(buf, pos, version)
                                    a2.append(x)
                            else:
                                raise refuse_null("observers")
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
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("nodes", n, len(buf) - pos)
                    o.nodes = a = []
                    for _ in range(n):
                        o1 = _new(Node)
                        o1.node_id, n = _u_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 5 > len(buf) - pos or n > 1000000:
                                raise refuse_count("listeners", n, len(buf) - pos)
                            o1.listeners = a1 = []
                            for _ in range(n):
                                o2 = _new(Listener)
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
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.host = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("host")
                                o2.port, n = _u_HB(buf, pos)
                                pos += 3
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("listeners")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("nodes")
            else:
                o.nodes = []
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeQuorumResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeQuorumResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"DescribeQuorumResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_h(o.error_code)
            if version >= 2:
                if o.error_message is None:
                    w.append(0)
                else:
                    s = o.error_message.encode()
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
                    w += _p_ih(o2.partition_index, o2.error_code)
                    if version >= 2:
                        if o2.error_message is None:
                            w.append(0)
                        else:
                            s = o2.error_message.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                    w += _p_iiq(o2.leader_id, o2.leader_epoch, o2.high_watermark)
                    n = len(o2.current_voters) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.current_voters:
                        _write_ReplicaState(x, w, version)
                    n = len(o2.observers) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.observers:
                        _write_ReplicaState(x, w, version)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if version >= 2:
                n = len(o.nodes) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.nodes:
                    w += _p_i(o1.node_id)
                    n = len(o1.listeners) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.listeners:
                        s = o2.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.host.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_H(o2.port)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
            elif len(o.nodes) != 0:
                raise refuse_field("nodes", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeQuorumResponse v{version}: {error}") from error


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
        "error_message",
        "leader_id",
        "leader_epoch",
        "high_watermark",
        "current_voters",
        "observers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = FRESH,
        observers: list[ReplicaState] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is FRESH else current_voters
        self.observers = [] if observers is FRESH else observers
        self.unknown_tags = unknown_tags


class ReplicaState(Message):
    __slots__ = (
        "replica_id",
        "replica_directory_id",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        self.unknown_tags = unknown_tags


class Node(Message):
    __slots__ = (
        "node_id",
        "listeners",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        listeners: list[Listener] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.listeners = [] if listeners is FRESH else listeners
        self.unknown_tags = unknown_tags


class Listener(Message):
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


def _read_ReplicaState(buf: bytes | memoryview, pos: int, version: int) -> tuple[ReplicaState, int]:
    o = _new(ReplicaState)
    (o.replica_id,) = _u_i(buf, pos)
    pos += 4
    if version >= 2:
        (o.replica_directory_id,) = _u_u(buf, pos)
        pos += 16
    else:
        o.replica_directory_id = ZERO_UUID
    (o.log_end_offset,) = _u_q(buf, pos)
    pos += 8
    if version >= 1:
        o.last_fetch_timestamp, o.last_caught_up_timestamp = _u_qq(buf, pos)
        pos += 16
    else:
        o.last_fetch_timestamp = -1
        o.last_caught_up_timestamp = -1
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_ReplicaState(o: ReplicaState, w: bytearray, version: int) -> None:
    w += _p_i(o.replica_id)
    if version >= 2:
        w += _p_u(o.replica_directory_id)
    elif o.replica_directory_id != ZERO_UUID:
        raise refuse_field("replica_directory_id", version)
    w += _p_q(o.log_end_offset)
    if version >= 1:
        w += _p_qq(o.last_fetch_timestamp, o.last_caught_up_timestamp)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
