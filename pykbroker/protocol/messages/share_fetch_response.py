"""ShareFetchResponse (response 78, versions 1-2).

Generated from schemas/api/share_fetch.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import AnyPart, Parts, open_tail, part_size, put_part
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_qqhB = Struct(">qqhB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack
_p_qqh = Struct(">qqh").pack


class ShareFetchResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "acquisition_lock_timeout_ms",
        "responses",
        "node_endpoints",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = FRESH,
        node_endpoints: list[NodeEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is FRESH else responses
        self.node_endpoints = [] if node_endpoints is FRESH else node_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("ShareFetchResponse", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.error_message = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.error_message = None
            o.acquisition_lock_timeout_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > 1000000:
                    raise refuse_count("responses", n, len(buf) - pos)
                o.responses = a = []
                for _ in range(n):
                    o1 = _new(ShareFetchableTopicResponse)
                    o1.topic_id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 22 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionData)
                            o2.partition_index, o2.error_code, n = _u_ihB(buf, pos)
                            pos += 7
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.error_message = None
                            o2.acknowledge_error_code, n = _u_hB(buf, pos)
                            pos += 3
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.acknowledge_error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.acknowledge_error_message = None
                            o2.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, version)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.records = buf[pos:e]
                                pos = e
                            else:
                                raise refuse_null("records")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 19 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("acquired_records", n, len(buf) - pos)
                                o2.acquired_records = a2 = []
                                for _ in range(n):
                                    o3 = _new(AcquiredRecords)
                                    o3.first_offset, o3.last_offset, o3.delivery_count, n = _u_qqhB(buf, pos)
                                    pos += 19
                                    if n == 0:
                                        o3.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a2.append(o3)
                            else:
                                raise refuse_null("acquired_records")
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
                raise refuse_null("responses")
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
                    o1 = _new(NodeEndpoint)
                    o1.node_id, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.host = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("host")
                    o1.port, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.rack = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o1.rack = None
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("node_endpoints")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareFetchResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareFetchResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"ShareFetchResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
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
            w += _p_i(o.acquisition_lock_timeout_ms)
            n = len(o.responses) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.responses:
                w += _p_u(o1.topic_id)
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partitions:
                    w += _p_ih(o2.partition_index, o2.error_code)
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
                    w += _p_h(o2.acknowledge_error_code)
                    if o2.acknowledge_error_message is None:
                        w.append(0)
                    else:
                        s = o2.acknowledge_error_message.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    _write_LeaderIdAndEpoch(o2.current_leader, w, version)
                    if o2.records is None:
                        raise EncodeError("records is null")
                    else:
                        size = part_size(o2.records)
                        n = size + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        w = put_part(out, w, o2.records, size)
                    n = len(o2.acquired_records) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o3 in o2.acquired_records:
                        w += _p_qqh(o3.first_offset, o3.last_offset, o3.delivery_count)
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
            n = len(o.node_endpoints) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.node_endpoints:
                s = o1.host.encode()
                w += _p_i(o1.node_id)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_i(o1.port)
                if o1.rack is None:
                    w.append(0)
                else:
                    s = o1.rack.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareFetchResponse v{version}: {error}") from error


class ShareFetchableTopicResponse(Message):
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
        "error_code",
        "error_message",
        "acknowledge_error_code",
        "acknowledge_error_message",
        "current_leader",
        "records",
        "acquired_records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = FRESH,
        records: AnyPart | None = None,
        acquired_records: list[AcquiredRecords] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is FRESH else current_leader
        self.records = records
        self.acquired_records = [] if acquired_records is FRESH else acquired_records
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
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tags = unknown_tags


class AcquiredRecords(Message):
    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count
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
