"""FetchSnapshotResponse (response 59, versions 0-1).

Generated from schemas/api/fetch_snapshot.txt by pykbroker.protocol.generate: do not edit.
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
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_qiB = Struct(">qiB").unpack_from
_u_qqB = Struct(">qqB").unpack_from
_p_H = Struct(">H").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack
_p_qi = Struct(">qi").pack
_p_qq = Struct(">qq").pack


class FetchSnapshotResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "topics",
        "node_endpoints",
        "unknown_tags",
    )

    API_KEY = 59
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[TopicSnapshot] = FRESH,
        node_endpoints: list[NodeEndpoint] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is FRESH else topics
        self.node_endpoints = [] if node_endpoints is FRESH else node_endpoints
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("FetchSnapshotResponse", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(TopicSnapshot)
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
                        if n * 37 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionSnapshot)
                            o2.index, o2.error_code = _u_ih(buf, pos)
                            pos += 6
                            o2.snapshot_id, pos = _read_SnapshotId(buf, pos, version)
                            o2.size, o2.position, n = _u_qqB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.unaligned_records = buf[pos:e]
                                pos = e
                            else:
                                raise refuse_null("unaligned_records")
                            n = buf[pos]
                            pos += 1
                            o2.current_leader = None
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                pos = _tags_PartitionSnapshot(o2, buf, pos, version, n)
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
                pos = _tags_FetchSnapshotResponse(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FetchSnapshotResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FetchSnapshotResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"FetchSnapshotResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 1) and len(o.node_endpoints) != 0:
                raise refuse_field("node_endpoints", version)
            w += _p_ih(o.throttle_time_ms, o.error_code)
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
                    w += _p_ih(o2.index, o2.error_code)
                    _write_SnapshotId(o2.snapshot_id, w, version)
                    w += _p_qq(o2.size, o2.position)
                    if o2.unaligned_records is None:
                        raise EncodeError("unaligned_records is null")
                    else:
                        size = part_size(o2.unaligned_records)
                        n = size + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        w = put_part(out, w, o2.unaligned_records, size)
                    if o2.current_leader is not None or o2.unknown_tags:
                        _put_tags_PartitionSnapshot(o2, w, version)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if len(o.node_endpoints) != 0 or o.unknown_tags:
                _put_tags_FetchSnapshotResponse(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FetchSnapshotResponse v{version}: {error}") from error


class TopicSnapshot(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[PartitionSnapshot] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionSnapshot(Message):
    __slots__ = (
        "index",
        "error_code",
        "snapshot_id",
        "current_leader",
        "size",
        "position",
        "unaligned_records",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: SnapshotId = FRESH,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: AnyPart | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = SnapshotId() if snapshot_id is FRESH else snapshot_id
        self.current_leader = current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records
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
        end_offset: int = 0,
        epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
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


def _tags_FetchSnapshotResponse(o: FetchSnapshotResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 1:
                raise DecodeError(f"tag 0 is not valid for version {version}")
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


def _put_tags_FetchSnapshotResponse(o: FetchSnapshotResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 1 and len(o.node_endpoints) != 0:
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


def _tags_PartitionSnapshot(o: PartitionSnapshot, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            o.current_leader, pos = _read_LeaderIdAndEpoch(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_PartitionSnapshot(o: PartitionSnapshot, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if (o.current_leader is not None and o.current_leader != LeaderIdAndEpoch()):
        w = bytearray()
        _write_LeaderIdAndEpoch(o.current_leader, w, version)
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


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
