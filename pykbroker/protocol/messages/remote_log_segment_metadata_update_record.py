"""RemoteLogSegmentMetadataUpdateRecord (record 1, versions 0-0).

Generated from schemas/storage/remote_log_segment_metadata_update_record.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_uiB = Struct(">16siB").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_u = Struct(">16s").pack
_p_ui = Struct(">16si").pack
_p_b = Struct(">b").pack
_p_iq = Struct(">iq").pack


class RemoteLogSegmentMetadataUpdateRecord(Message):
    __slots__ = (
        "remote_log_segment_id",
        "broker_id",
        "event_timestamp_ms",
        "custom_metadata",
        "remote_log_segment_state",
        "unknown_tags",
    )

    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        remote_log_segment_id: RemoteLogSegmentIdEntry = FRESH,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.remote_log_segment_id = RemoteLogSegmentIdEntry() if remote_log_segment_id is FRESH else remote_log_segment_id
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("RemoteLogSegmentMetadataUpdateRecord", version)
        o = _new(cls)
        try:
            o.remote_log_segment_id, pos = _read_RemoteLogSegmentIdEntry(buf, pos, version)
            o.broker_id, o.event_timestamp_ms, n = _u_iqB(buf, pos)
            pos += 13
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
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RemoteLogSegmentMetadataUpdateRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RemoteLogSegmentMetadataUpdateRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"RemoteLogSegmentMetadataUpdateRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            _write_RemoteLogSegmentIdEntry(o.remote_log_segment_id, w, version)
            w += _p_iq(o.broker_id, o.event_timestamp_ms)
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
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RemoteLogSegmentMetadataUpdateRecord v{version}: {error}") from error


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
