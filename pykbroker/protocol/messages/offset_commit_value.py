"""OffsetCommitValue (value 1, versions 0-4).

Generated from schemas/group_coordinator/offset_commit.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    ZERO_UUID,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_uvarint,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_q = Struct(">q").unpack_from
_u_qB = Struct(">qB").unpack_from
_u_qiB = Struct(">qiB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack
_p_qi = Struct(">qi").pack


class OffsetCommitValue(Message):
    __slots__ = (
        "offset",
        "leader_epoch",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
        "topic_id",
        "unknown_tags",
    )

    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("OffsetCommitValue", version)
        o = _new(cls)
        try:
            if version >= 4:
                o.offset, o.leader_epoch, n = _u_qiB(buf, pos)
                pos += 13
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.metadata = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("metadata")
                o.commit_timestamp, n = _u_qB(buf, pos)
                pos += 9
                o.expire_timestamp = -1
                o.topic_id = ZERO_UUID
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_OffsetCommitValue(o, buf, pos, version, n)
            else:
                (o.offset,) = _u_q(buf, pos)
                pos += 8
                if version >= 3:
                    (o.leader_epoch,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.leader_epoch = -1
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.metadata = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("metadata")
                (o.commit_timestamp,) = _u_q(buf, pos)
                pos += 8
                if version == 1:
                    (o.expire_timestamp,) = _u_q(buf, pos)
                    pos += 8
                else:
                    o.expire_timestamp = -1
                o.topic_id = ZERO_UUID
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"OffsetCommitValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"OffsetCommitValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"OffsetCommitValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                s = o.metadata.encode()
                w += _p_qi(o.offset, o.leader_epoch)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_q(o.commit_timestamp)
                if o.topic_id != ZERO_UUID or o.unknown_tags:
                    _put_tags_OffsetCommitValue(o, w, version)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_q(o.offset)
                if version >= 3:
                    w += _p_i(o.leader_epoch)
                s = o.metadata.encode()
                w += _p_h(len(s))
                w += s
                w += _p_q(o.commit_timestamp)
                if version == 1:
                    w += _p_q(o.expire_timestamp)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"OffsetCommitValue v{version}: {error}") from error


def _tags_OffsetCommitValue(o: OffsetCommitValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.topic_id,) = _u_u(buf, pos)
            pos += 16
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_OffsetCommitValue(o: OffsetCommitValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.topic_id != ZERO_UUID:
        known[0] = _p_u(o.topic_id)
    put_tags(tail, known, o.unknown_tags)
