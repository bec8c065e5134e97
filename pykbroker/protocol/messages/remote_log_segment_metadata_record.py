"""RemoteLogSegmentMetadataRecord (record 0, versions 0-0).

Generated from schemas/storage/remote_log_segment_metadata_record.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_uiB = Struct(">16siB").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_u_qqiqqB = Struct(">qqiqqB").unpack_from
_p_u = Struct(">16s").pack
_p_ui = Struct(">16si").pack
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack
_p_qqiqq = Struct(">qqiqq").pack


class RemoteLogSegmentMetadataRecord(Message):
    __slots__ = (
        "remote_log_segment_id",
        "start_offset",
        "end_offset",
        "broker_id",
        "max_timestamp_ms",
        "event_timestamp_ms",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "custom_metadata",
        "remote_log_segment_state",
        "txn_index_empty",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentIdEntry = FRESH,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[SegmentLeaderEpochEntry] = FRESH,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.remote_log_segment_id = RemoteLogSegmentIdEntry() if remote_log_segment_id is FRESH else remote_log_segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs = [] if segment_leader_epochs is FRESH else segment_leader_epochs
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("RemoteLogSegmentMetadataRecord", version)
        o = _new(cls)
        try:
            o.remote_log_segment_id, pos = _read_RemoteLogSegmentIdEntry(buf, pos, version)
            o.start_offset, o.end_offset, o.broker_id, o.max_timestamp_ms, o.event_timestamp_ms, n = _u_qqiqqB(buf, pos)
            pos += 37
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 13 > len(buf) - pos or n > 1000000:
                    raise refuse_count("segment_leader_epochs", n, len(buf) - pos)
                o.segment_leader_epochs = a = []
                for _ in range(n):
                    o1 = _new(SegmentLeaderEpochEntry)
                    o1.leader_epoch, o1.offset, n = _u_iqB(buf, pos)
                    pos += 13
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("segment_leader_epochs")
            o.segment_size_in_bytes, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.custom_metadata = bytes(buf[pos:e])
                pos = e
            else:
                o.custom_metadata = None
            o.remote_log_segment_state, n = _u_bB(buf, pos)
            pos += 2
            o.txn_index_empty = False
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_RemoteLogSegmentMetadataRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RemoteLogSegmentMetadataRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RemoteLogSegmentMetadataRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"RemoteLogSegmentMetadataRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            _write_RemoteLogSegmentIdEntry(o.remote_log_segment_id, w, version)
            w += _p_qqiqq(o.start_offset, o.end_offset, o.broker_id, o.max_timestamp_ms, o.event_timestamp_ms)
            n = len(o.segment_leader_epochs) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.segment_leader_epochs:
                w += _p_iq(o1.leader_epoch, o1.offset)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            w += _p_i(o.segment_size_in_bytes)
            if o.custom_metadata is None:
                w.append(0)
            else:
                n = len(o.custom_metadata) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.custom_metadata
            w += _p_b(o.remote_log_segment_state)
            if o.txn_index_empty or o.unknown_tags:
                _put_tags_RemoteLogSegmentMetadataRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RemoteLogSegmentMetadataRecord v{version}: {error}") from error


class RemoteLogSegmentIdEntry(Message):
    __slots__ = (
        "topic_id_partition",
        "id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id_partition: TopicIdPartitionEntry = FRESH,
        id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is FRESH else topic_id_partition
        self.id = id
        self.unknown_tags = unknown_tags


class TopicIdPartitionEntry(Message):
    __slots__ = (
        "name",
        "id",
        "partition",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition
        self.unknown_tags = unknown_tags


class SegmentLeaderEpochEntry(Message):
    __slots__ = (
        "leader_epoch",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_epoch: int = 0,
        offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset
        self.unknown_tags = unknown_tags


def _tags_RemoteLogSegmentMetadataRecord(o: RemoteLogSegmentMetadataRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            o.txn_index_empty = buf[pos] != 0
            pos += 1
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_RemoteLogSegmentMetadataRecord(o: RemoteLogSegmentMetadataRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.txn_index_empty:
        known[0] = _p_o(o.txn_index_empty)
    put_tags(tail, known, o.unknown_tags)


def _read_RemoteLogSegmentIdEntry(buf: bytes | memoryview, pos: int, version: int) -> tuple[RemoteLogSegmentIdEntry, int]:
    o = _new(RemoteLogSegmentIdEntry)
    o.topic_id_partition, pos = _read_TopicIdPartitionEntry(buf, pos, version)
    o.id, n = _u_uB(buf, pos)
    pos += 17
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_RemoteLogSegmentIdEntry(o: RemoteLogSegmentIdEntry, w: bytearray, version: int) -> None:
    _write_TopicIdPartitionEntry(o.topic_id_partition, w, version)
    w += _p_u(o.id)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_TopicIdPartitionEntry(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicIdPartitionEntry, int]:
    o = _new(TopicIdPartitionEntry)
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
    o.id, o.partition, n = _u_uiB(buf, pos)
    pos += 21
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_TopicIdPartitionEntry(o: TopicIdPartitionEntry, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_ui(o.id, o.partition)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
