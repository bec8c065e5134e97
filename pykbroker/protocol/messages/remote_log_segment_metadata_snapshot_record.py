"""RemoteLogSegmentMetadataSnapshotRecord (record 3, versions 0-0).

Generated from schemas/storage/remote_log_segment_metadata_snapshot_record.txt by pykbroker.protocol.generate: do not edit.
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
    put_tags,
    put_uvarint,
    read_length,
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
_u_uqqiqqB = Struct(">16sqqiqqB").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_uqqiqq = Struct(">16sqqiqq").pack
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack


class RemoteLogSegmentMetadataSnapshotRecord(Message):
    __slots__ = (
        "segment_id",
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

    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        segment_id: bytes = ZERO_UUID,
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
        self.segment_id = segment_id
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
            raise refuse_version("RemoteLogSegmentMetadataSnapshotRecord", version)
        o = _new(cls)
        try:
            o.segment_id, o.start_offset, o.end_offset, o.broker_id, o.max_timestamp_ms, o.event_timestamp_ms, n = _u_uqqiqqB(buf, pos)
            pos += 53
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
                pos = _tags_RemoteLogSegmentMetadataSnapshotRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RemoteLogSegmentMetadataSnapshotRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RemoteLogSegmentMetadataSnapshotRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"RemoteLogSegmentMetadataSnapshotRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_uqqiqq(o.segment_id, o.start_offset, o.end_offset, o.broker_id, o.max_timestamp_ms, o.event_timestamp_ms)
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
                _put_tags_RemoteLogSegmentMetadataSnapshotRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RemoteLogSegmentMetadataSnapshotRecord v{version}: {error}") from error


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


def _tags_RemoteLogSegmentMetadataSnapshotRecord(o: RemoteLogSegmentMetadataSnapshotRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
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


def _put_tags_RemoteLogSegmentMetadataSnapshotRecord(o: RemoteLogSegmentMetadataSnapshotRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.txn_index_empty:
        known[0] = _p_o(o.txn_index_empty)
    put_tags(tail, known, o.unknown_tags)
