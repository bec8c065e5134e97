"""OffsetCommitRequest (request 8, versions 2-10).

Generated from schemas/api/offset_commit.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_iq = Struct(">iq").unpack_from
_u_iqiB = Struct(">iqiB").unpack_from
_u_q = Struct(">q").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_iq = Struct(">iq").pack
_p_iqi = Struct(">iqi").pack
_p_q = Struct(">q").pack


class OffsetCommitRequest(Message):
    __slots__ = (
        "group_id",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "retention_time_ms",
        "topics",
        "unknown_tags",
    )

    API_KEY = 8
    MIN_VERSION = 2
    MAX_VERSION = 10
    LATEST_VERSION = 10
    FLEXIBLE_FROM = 8

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 2 <= version <= 10:
            raise refuse_version("OffsetCommitRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 8:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                o.generation_id_or_member_epoch, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.group_instance_id = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(OffsetCommitRequestTopic)
                        if version <= 9:
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
                        if version >= 10:
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
                            if n * 18 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(OffsetCommitRequestPartition)
                                o2.partition_index, o2.committed_offset, o2.committed_leader_epoch, n = _u_iqiB(buf, pos)
                                pos += 17
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.committed_metadata = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.committed_metadata = None
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
                n = buf[pos]
                pos += 1
                o.retention_time_ms = -1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.group_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("group_id")
                o.generation_id_or_member_epoch, n = _u_ih(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.member_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("member_id")
                if version >= 7:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.group_instance_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.group_instance_id = None
                else:
                    o.group_instance_id = None
                if version <= 4:
                    (o.retention_time_ms,) = _u_q(buf, pos)
                    pos += 8
                else:
                    o.retention_time_ms = -1
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(OffsetCommitRequestTopic)
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
                            if n * 14 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(OffsetCommitRequestPartition)
                                o2.partition_index, o2.committed_offset = _u_iq(buf, pos)
                                pos += 12
                                if version >= 6:
                                    (o2.committed_leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.committed_leader_epoch = -1
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.committed_metadata = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.committed_metadata = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"OffsetCommitRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"OffsetCommitRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 2 <= version <= 10:
            raise EncodeError(f"OffsetCommitRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 8:
                s = o.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.member_id.encode()
                w += _p_i(o.generation_id_or_member_epoch)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if o.group_instance_id is None:
                    w.append(0)
                else:
                    s = o.group_instance_id.encode()
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
                    if version <= 9:
                        s = o1.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 10:
                        w += _p_u(o1.topic_id)
                    n = len(o1.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partitions:
                        w += _p_iqi(o2.partition_index, o2.committed_offset, o2.committed_leader_epoch)
                        if o2.committed_metadata is None:
                            w.append(0)
                        else:
                            s = o2.committed_metadata.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.group_id.encode()
                w += _p_h(len(s))
                w += s
                s = o.member_id.encode()
                w += _p_ih(o.generation_id_or_member_epoch, len(s))
                w += s
                if version >= 7:
                    if o.group_instance_id is None:
                        w += b"\xff\xff"
                    else:
                        s = o.group_instance_id.encode()
                        w += _p_h(len(s))
                        w += s
                elif o.group_instance_id is not None:
                    raise refuse_field("group_instance_id", version)
                if version <= 4:
                    w += _p_q(o.retention_time_ms)
                w += _p_i(len(o.topics))
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partitions))
                    for o2 in o1.partitions:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_iq(o2.partition_index, o2.committed_offset)
                        if version >= 6:
                            w += _p_i(o2.committed_leader_epoch)
                        if o2.committed_metadata is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.committed_metadata.encode()
                            w += _p_h(len(s))
                            w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"OffsetCommitRequest v{version}: {error}") from error


class OffsetCommitRequestTopic(Message):
    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class OffsetCommitRequestPartition(Message):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        self.unknown_tags = unknown_tags
