"""ProduceResponse (response 0, versions 3-13).

Generated from schemas/api/produce.txt by pykbroker.protocol.generate: do not edit.
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
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_ihqq = Struct(">ihqq").unpack_from
_u_ihqqqB = Struct(">ihqqqB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_q = Struct(">q").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ihqq = Struct(">ihqq").pack
_p_ihqqq = Struct(">ihqqq").pack
_p_ii = Struct(">ii").pack
_p_q = Struct(">q").pack


class ProduceResponse(Message):
    __slots__ = (
        "responses",
        "throttle_time_ms",
        "node_endpoints",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 3
    MAX_VERSION = 13
    LATEST_VERSION = 13
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        *,
        responses: list[TopicProduceResponse] = FRESH,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.responses = [] if responses is FRESH else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is FRESH else node_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 3 <= version <= 13:
            raise refuse_version("ProduceResponse", version)
        o = _new(cls)
        try:
            if version >= 9:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 2 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(TopicProduceResponse)
                        if version <= 12:
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
                        else:
                            o1.name = ""
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
                            if n * 33 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_responses", n, len(buf) - pos)
                            o1.partition_responses = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionProduceResponse)
                                o2.index, o2.error_code, o2.base_offset, o2.log_append_time_ms, o2.log_start_offset, n = _u_ihqqqB(buf, pos)
                                pos += 31
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 6 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("record_errors", n, len(buf) - pos)
                                    o2.record_errors = a2 = []
                                    for _ in range(n):
                                        o3 = _new(BatchIndexAndErrorMessage)
                                        o3.batch_index, n = _u_iB(buf, pos)
                                        pos += 5
                                        if n > 127:
                                            n, pos = read_string_length(buf, pos - 1)
                                        if n > 0:
                                            e = pos + n - 1
                                            o3.batch_index_error_message = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            o3.batch_index_error_message = None
                                        n = buf[pos]
                                        pos += 1
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    raise refuse_null("record_errors")
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
                                n = buf[pos]
                                pos += 1
                                o2.current_leader = None
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    pos = _tags_PartitionProduceResponse(o2, buf, pos, version, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("partition_responses")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("responses")
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                o.node_endpoints = []
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_ProduceResponse(o, buf, pos, version, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(TopicProduceResponse)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 22 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_responses", n, len(buf) - pos)
                            o1.partition_responses = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionProduceResponse)
                                o2.index, o2.error_code, o2.base_offset, o2.log_append_time_ms = _u_ihqq(buf, pos)
                                pos += 22
                                if version >= 5:
                                    (o2.log_start_offset,) = _u_q(buf, pos)
                                    pos += 8
                                else:
                                    o2.log_start_offset = -1
                                if version >= 8:
                                    (n,) = _u_i(buf, pos)
                                    pos += 4
                                    if n >= 0:
                                        if n * 6 > len(buf) - pos or n > 1000000:
                                            raise refuse_count("record_errors", n, len(buf) - pos)
                                        o2.record_errors = a2 = []
                                        for _ in range(n):
                                            o3 = _new(BatchIndexAndErrorMessage)
                                            o3.batch_index, n = _u_ih(buf, pos)
                                            pos += 6
                                            if n >= 0:
                                                e = pos + n
                                                o3.batch_index_error_message = str(buf[pos:e], "utf-8", "java")
                                                pos = e
                                            else:
                                                o3.batch_index_error_message = None
                                            o3.unknown_tags = None
                                            a2.append(o3)
                                    else:
                                        raise refuse_null("record_errors")
                                    (n,) = _u_h(buf, pos)
                                    pos += 2
                                    if n >= 0:
                                        e = pos + n
                                        o2.error_message = str(buf[pos:e], "utf-8", "java")
                                        pos = e
                                    else:
                                        o2.error_message = None
                                else:
                                    o2.record_errors = []
                                    o2.error_message = None
                                o2.current_leader = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partition_responses")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("responses")
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                o.node_endpoints = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ProduceResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ProduceResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 3 <= version <= 13:
            raise EncodeError(f"ProduceResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 9:
                if not (version >= 10) and len(o.node_endpoints) != 0:
                    raise refuse_field("node_endpoints", version)
                n = len(o.responses) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.responses:
                    if version <= 12:
                        s = o1.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 13:
                        w += _p_u(o1.topic_id)
                    n = len(o1.partition_responses) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partition_responses:
                        if not (version >= 10) and (o2.current_leader is not None and o2.current_leader != LeaderIdAndEpoch()):
                            raise refuse_field("current_leader", version)
                        w += _p_ihqqq(o2.index, o2.error_code, o2.base_offset, o2.log_append_time_ms, o2.log_start_offset)
                        n = len(o2.record_errors) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o3 in o2.record_errors:
                            w += _p_i(o3.batch_index)
                            if o3.batch_index_error_message is None:
                                w.append(0)
                            else:
                                s = o3.batch_index_error_message.encode()
                                n = len(s) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_string_length(w, n)
                                w += s
                            if o3.unknown_tags:
                                put_tags(w, {}, o3.unknown_tags)
                            else:
                                w.append(0)
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
                        if o2.current_leader is not None or o2.unknown_tags:
                            _put_tags_PartitionProduceResponse(o2, w, version)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o.throttle_time_ms)
                if len(o.node_endpoints) != 0 or o.unknown_tags:
                    _put_tags_ProduceResponse(o, w, version)
                else:
                    w.append(0)
            else:
                if len(o.node_endpoints) != 0:
                    raise refuse_field("node_endpoints", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.responses))
                for o1 in o.responses:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partition_responses))
                    for o2 in o1.partition_responses:
                        if (o2.current_leader is not None and o2.current_leader != LeaderIdAndEpoch()):
                            raise refuse_field("current_leader", version)
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_ihqq(o2.index, o2.error_code, o2.base_offset, o2.log_append_time_ms)
                        if version >= 5:
                            w += _p_q(o2.log_start_offset)
                        if version >= 8:
                            w += _p_i(len(o2.record_errors))
                            for o3 in o2.record_errors:
                                if o3.unknown_tags:
                                    raise refuse_field("unknown_tags", version)
                                w += _p_i(o3.batch_index)
                                if o3.batch_index_error_message is None:
                                    w += b"\xff\xff"
                                else:
                                    s = o3.batch_index_error_message.encode()
                                    w += _p_h(len(s))
                                    w += s
                            if o2.error_message is None:
                                w += b"\xff\xff"
                            else:
                                s = o2.error_message.encode()
                                w += _p_h(len(s))
                                w += s
                w += _p_i(o.throttle_time_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ProduceResponse v{version}: {error}") from error


class TopicProduceResponse(Message):
    __slots__ = (
        "name",
        "topic_id",
        "partition_responses",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is FRESH else partition_responses
        self.unknown_tags = unknown_tags


class PartitionProduceResponse(Message):
    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
        "current_leader",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = FRESH,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is FRESH else record_errors
        self.error_message = error_message
        self.current_leader = current_leader
        self.unknown_tags = unknown_tags


class BatchIndexAndErrorMessage(Message):
    __slots__ = (
        "batch_index",
        "batch_index_error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        self.unknown_tags = unknown_tags


class LeaderIdAndEpoch(Message):
    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags


class NodeEndpoint(Message):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags = unknown_tags


def _tags_ProduceResponse(o: ProduceResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 10:
                raise DecodeError(f"tag 0 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 11 > len(buf) - pos or n > 1000000:
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


def _put_tags_ProduceResponse(o: ProduceResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 10 and len(o.node_endpoints) != 0:
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


def _tags_PartitionProduceResponse(o: PartitionProduceResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 10:
                raise DecodeError(f"tag 0 is not valid for version {version}")
            o.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_PartitionProduceResponse(o: PartitionProduceResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 10 and (o.current_leader is not None and o.current_leader != LeaderIdAndEpoch()):
        w = bytearray()
        _write_LeaderIdAndEpoch(o.current_leader, w, version)
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_LeaderIdAndEpoch(buf: bytes | memoryview, pos: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
    o = _new(LeaderIdAndEpoch)
    o.leader_id, o.leader_epoch, n = _u_iiB(buf, pos)
    pos += 9
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_LeaderIdAndEpoch(o: LeaderIdAndEpoch, w: bytearray, version: int) -> None:
    w += _p_ii(o.leader_id, o.leader_epoch)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


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
    o.port, n = _u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.rack = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        o.rack = None
    n = buf[pos]
    pos += 1
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
    w += _p_i(o.port)
    if o.rack is None:
        w.append(0)
    else:
        s = o.rack.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
