"""FetchResponse (response 1, versions 4-18).

Generated from schemas/api/fetch.txt by pykbroker.protocol.generate: do not edit.
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
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihiB = Struct(">ihiB").unpack_from
_u_ihqq = Struct(">ihqq").unpack_from
_u_ihqqqB = Struct(">ihqqqB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_u_q = Struct(">q").unpack_from
_u_qiB = Struct(">qiB").unpack_from
_u_qq = Struct(">qq").unpack_from
_u_qqB = Struct(">qqB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_ihi = Struct(">ihi").pack
_p_ihqq = Struct(">ihqq").pack
_p_ihqqq = Struct(">ihqqq").pack
_p_ii = Struct(">ii").pack
_p_iq = Struct(">iq").pack
_p_q = Struct(">q").pack
_p_qi = Struct(">qi").pack
_p_qq = Struct(">qq").pack


class FetchResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "session_id",
        "responses",
        "node_endpoints",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = FRESH,
        node_endpoints: list[NodeEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is FRESH else responses
        self.node_endpoints = [] if node_endpoints is FRESH else node_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 4 <= version <= 18:
            raise refuse_version("FetchResponse", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            if version >= 12:
                o.throttle_time_ms, o.error_code, o.session_id, n = _u_ihiB(buf, pos)
                pos += 11
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 2 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(FetchableTopicResponse)
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
                            if n * 37 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.error_code, o2.high_watermark, o2.last_stable_offset, o2.log_start_offset, n = _u_ihqqqB(buf, pos)
                                pos += 31
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 17 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("aborted_transactions", n, len(buf) - pos)
                                    o2.aborted_transactions = a2 = []
                                    for _ in range(n):
                                        o3 = _new(AbortedTransaction)
                                        o3.producer_id, o3.first_offset, n = _u_qqB(buf, pos)
                                        pos += 17
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    o2.aborted_transactions = None
                                o2.preferred_read_replica, n = _u_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.records = buf[pos:e]
                                    pos = e
                                else:
                                    o2.records = None
                                n = buf[pos]
                                pos += 1
                                o2.diverging_epoch = None
                                o2.current_leader = None
                                o2.snapshot_id = None
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    pos = _tags_PartitionData(o2, buf, pos, version, n)
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
                o.node_endpoints = []
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_FetchResponse(o, buf, pos, version, n)
            else:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 7:
                    o.error_code, o.session_id = _u_hi(buf, pos)
                    pos += 6
                else:
                    o.error_code = 0
                    o.session_id = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(FetchableTopicResponse)
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
                            if n * 30 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionData)
                                o2.partition_index, o2.error_code, o2.high_watermark, o2.last_stable_offset = _u_ihqq(buf, pos)
                                pos += 22
                                if version >= 5:
                                    (o2.log_start_offset,) = _u_q(buf, pos)
                                    pos += 8
                                else:
                                    o2.log_start_offset = -1
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    if n * 16 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("aborted_transactions", n, len(buf) - pos)
                                    o2.aborted_transactions = a2 = []
                                    for _ in range(n):
                                        o3 = _new(AbortedTransaction)
                                        o3.producer_id, o3.first_offset = _u_qq(buf, pos)
                                        pos += 16
                                        o3.unknown_tags = None
                                        a2.append(o3)
                                else:
                                    o2.aborted_transactions = None
                                if version >= 11:
                                    (o2.preferred_read_replica,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.preferred_read_replica = -1
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    e = pos + n
                                    o2.records = buf[pos:e]
                                    pos = e
                                else:
                                    o2.records = None
                                o2.diverging_epoch = None
                                o2.current_leader = None
                                o2.snapshot_id = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("responses")
                o.node_endpoints = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FetchResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FetchResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 4 <= version <= 18:
            raise EncodeError(f"FetchResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 12:
                if not (version >= 16) and len(o.node_endpoints) != 0:
                    raise refuse_field("node_endpoints", version)
                w += _p_ihi(o.throttle_time_ms, o.error_code, o.session_id)
                n = len(o.responses) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.responses:
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
                        w += _p_ihqqq(o2.partition_index, o2.error_code, o2.high_watermark, o2.last_stable_offset, o2.log_start_offset)
                        if o2.aborted_transactions is None:
                            w.append(0)
                        else:
                            n = len(o2.aborted_transactions) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_uvarint(w, n)
                            for o3 in o2.aborted_transactions:
                                w += _p_qq(o3.producer_id, o3.first_offset)
                                if o3.unknown_tags:
                                    put_tags(w, {}, o3.unknown_tags)
                                else:
                                    w.append(0)
                        w += _p_i(o2.preferred_read_replica)
                        if o2.records is None:
                            w.append(0)
                        else:
                            size = part_size(o2.records)
                            n = size + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_uvarint(w, n)
                            w = put_part(out, w, o2.records, size)
                        if o2.diverging_epoch is not None or o2.current_leader is not None or o2.snapshot_id is not None or o2.unknown_tags:
                            _put_tags_PartitionData(o2, w, version)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if len(o.node_endpoints) != 0 or o.unknown_tags:
                    _put_tags_FetchResponse(o, w, version)
                else:
                    w.append(0)
            else:
                if len(o.node_endpoints) != 0:
                    raise refuse_field("node_endpoints", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(o.throttle_time_ms)
                if version >= 7:
                    w += _p_hi(o.error_code, o.session_id)
                elif o.session_id != 0:
                    raise refuse_field("session_id", version)
                w += _p_i(len(o.responses))
                for o1 in o.responses:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.topic.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partitions))
                    for o2 in o1.partitions:
                        if (o2.diverging_epoch is not None and o2.diverging_epoch != EpochEndOffset()):
                            raise refuse_field("diverging_epoch", version)
                        if (o2.current_leader is not None and o2.current_leader != LeaderIdAndEpoch()):
                            raise refuse_field("current_leader", version)
                        if (o2.snapshot_id is not None and o2.snapshot_id != SnapshotId()):
                            raise refuse_field("snapshot_id", version)
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_ihqq(o2.partition_index, o2.error_code, o2.high_watermark, o2.last_stable_offset)
                        if version >= 5:
                            w += _p_q(o2.log_start_offset)
                        if o2.aborted_transactions is None:
                            w += b"\xff\xff\xff\xff"
                        else:
                            w += _p_i(len(o2.aborted_transactions))
                            for o3 in o2.aborted_transactions:
                                if o3.unknown_tags:
                                    raise refuse_field("unknown_tags", version)
                                w += _p_qq(o3.producer_id, o3.first_offset)
                        if version >= 11:
                            w += _p_i(o2.preferred_read_replica)
                        elif o2.preferred_read_replica != -1:
                            raise refuse_field("preferred_read_replica", version)
                        if o2.records is None:
                            w += b"\xff\xff\xff\xff"
                        else:
                            size = part_size(o2.records)
                            w += _p_i(size)
                            w = put_part(out, w, o2.records, size)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FetchResponse v{version}: {error}") from error


class FetchableTopicResponse(Message):
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
        partitions: list[PartitionData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionData(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "diverging_epoch",
        "current_leader",
        "snapshot_id",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = FRESH,
        preferred_read_replica: int = -1,
        records: AnyPart | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = [] if aborted_transactions is FRESH else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        self.unknown_tags = unknown_tags


class EpochEndOffset(Message):
    __slots__ = (
        "epoch",
        "end_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        epoch: int = -1,
        end_offset: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset
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


class SnapshotId(Message):
    __slots__ = (
        "end_offset",
        "epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        end_offset: int = -1,
        epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tags = unknown_tags


class AbortedTransaction(Message):
    __slots__ = (
        "producer_id",
        "first_offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
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


def _tags_FetchResponse(o: FetchResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 16:
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


def _put_tags_FetchResponse(o: FetchResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 16 and len(o.node_endpoints) != 0:
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


def _tags_PartitionData(o: PartitionData, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            o.diverging_epoch, pos = _read_EpochEndOffset(buf, pos, version)
        elif tag == 1:
            o.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, version)
        elif tag == 2:
            o.snapshot_id, pos = _read_SnapshotId(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_PartitionData(o: PartitionData, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if (o.diverging_epoch is not None and o.diverging_epoch != EpochEndOffset()):
        w = bytearray()
        _write_EpochEndOffset(o.diverging_epoch, w, version)
        known[0] = bytes(w)
    if (o.current_leader is not None and o.current_leader != LeaderIdAndEpoch()):
        w = bytearray()
        _write_LeaderIdAndEpoch(o.current_leader, w, version)
        known[1] = bytes(w)
    if (o.snapshot_id is not None and o.snapshot_id != SnapshotId()):
        w = bytearray()
        _write_SnapshotId(o.snapshot_id, w, version)
        known[2] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_EpochEndOffset(buf: bytes | memoryview, pos: int, version: int) -> tuple[EpochEndOffset, int]:
    o = _new(EpochEndOffset)
    o.epoch, o.end_offset, n = _u_iqB(buf, pos)
    pos += 13
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_EpochEndOffset(o: EpochEndOffset, w: bytearray, version: int) -> None:
    w += _p_iq(o.epoch, o.end_offset)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


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


def _read_SnapshotId(buf: bytes | memoryview, pos: int, version: int) -> tuple[SnapshotId, int]:
    o = _new(SnapshotId)
    o.end_offset, o.epoch, n = _u_qiB(buf, pos)
    pos += 13
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_SnapshotId(o: SnapshotId, w: bytearray, version: int) -> None:
    w += _p_qi(o.end_offset, o.epoch)
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
