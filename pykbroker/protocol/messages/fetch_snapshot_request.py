"""FetchSnapshotRequest (request 59, versions 0-1).

Generated from schemas/api/fetch_snapshot.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_qB = Struct(">qB").unpack_from
_u_qiB = Struct(">qiB").unpack_from
_p_u = Struct(">16s").pack
_p_ii = Struct(">ii").pack
_p_q = Struct(">q").pack
_p_qi = Struct(">qi").pack


class FetchSnapshotRequest(Message):
    __slots__ = (
        "cluster_id",
        "replica_id",
        "max_bytes",
        "topics",
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
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[TopicSnapshot] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("FetchSnapshotRequest", version)
        o = _new(cls)
        try:
            left = most
            o.replica_id, o.max_bytes, n = _u_iiB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
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
                        if n * 30 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionSnapshot)
                            o2.partition, o2.current_leader_epoch = _u_ii(buf, pos)
                            pos += 8
                            o2.snapshot_id, pos = _read_SnapshotId(buf, pos, version)
                            o2.position, n = _u_qB(buf, pos)
                            pos += 9
                            o2.replica_directory_id = ZERO_UUID
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
            o.cluster_id = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_FetchSnapshotRequest(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FetchSnapshotRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FetchSnapshotRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"FetchSnapshotRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ii(o.replica_id, o.max_bytes)
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
                    w += _p_ii(o2.partition, o2.current_leader_epoch)
                    _write_SnapshotId(o2.snapshot_id, w, version)
                    w += _p_q(o2.position)
                    if o2.replica_directory_id != ZERO_UUID or o2.unknown_tags:
                        _put_tags_PartitionSnapshot(o2, w, version)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.cluster_id is not None or o.unknown_tags:
                _put_tags_FetchSnapshotRequest(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FetchSnapshotRequest v{version}: {error}") from error


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
        "partition",
        "current_leader_epoch",
        "snapshot_id",
        "position",
        "replica_directory_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: SnapshotId = FRESH,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = SnapshotId() if snapshot_id is FRESH else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id
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


def _tags_FetchSnapshotRequest(o: FetchSnapshotRequest, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
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
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_FetchSnapshotRequest(o: FetchSnapshotRequest, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.cluster_id is not None:
        w = bytearray()
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
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _tags_PartitionSnapshot(o: PartitionSnapshot, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 1:
                raise DecodeError(f"tag 0 is not valid for version {version}")
            (o.replica_directory_id,) = _u_u(buf, pos)
            pos += 16
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_PartitionSnapshot(o: PartitionSnapshot, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 1 and o.replica_directory_id != ZERO_UUID:
        known[0] = _p_u(o.replica_directory_id)
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
