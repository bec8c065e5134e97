"""OffsetFetchResponse (response 9, versions 1-10).

Generated from schemas/api/offset_fetch.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_i = Struct(">i").unpack_from
_u_iq = Struct(">iq").unpack_from
_u_iqiB = Struct(">iqiB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack
_p_iqi = Struct(">iqi").pack


class OffsetFetchResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "error_code",
        "groups",
        "unknown_tags",
    )

    API_KEY = 9
    MIN_VERSION = 1
    MAX_VERSION = 10
    LATEST_VERSION = 10
    FLEXIBLE_FROM = 6

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = FRESH,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is FRESH else topics
        self.error_code = error_code
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 10:
            raise refuse_version("OffsetFetchResponse", version)
        o = _new(cls)
        try:
            if version >= 6:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version <= 7:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o.topics = a = []
                        for _ in range(n):
                            o1 = _new(OffsetFetchResponseTopic)
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
                                if n * 20 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("partitions", n, len(buf) - pos)
                                o1.partitions = a1 = []
                                for _ in range(n):
                                    o2 = _new(OffsetFetchResponsePartition)
                                    o2.partition_index, o2.committed_offset, o2.committed_leader_epoch, n = _u_iqiB(buf, pos)
                                    pos += 17
                                    if n > 127:
                                        n, pos = read_string_length(buf, pos - 1)
                                    if n > 0:
                                        e = pos + n - 1
                                        o2.metadata = str(buf[pos:e], "utf-8", "java")
                                        pos = e
                                    else:
                                        o2.metadata = None
                                    o2.error_code, n = _u_hB(buf, pos)
                                    pos += 3
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
                    (o.error_code,) = _u_h(buf, pos)
                    pos += 2
                else:
                    o.topics = []
                    o.error_code = 0
                if version >= 8:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 5 > len(buf) - pos or n > 1000000:
                            raise refuse_count("groups", n, len(buf) - pos)
                        o.groups = a = []
                        for _ in range(n):
                            o1 = _new(OffsetFetchResponseGroup)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.group_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("group_id")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 2 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("topics", n, len(buf) - pos)
                                o1.topics = a1 = []
                                for _ in range(n):
                                    o2 = _new(OffsetFetchResponseTopics)
                                    if version <= 9:
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = read_string_length(buf, pos - 1)
                                        if n > 0:
                                            e = pos + n - 1
                                            o2.name = str(buf[pos:e], "utf-8", "java")
                                            pos = e
                                        else:
                                            raise refuse_null("name")
                                    else:
                                        o2.name = ""
                                    if version >= 10:
                                        (o2.topic_id,) = _u_u(buf, pos)
                                        pos += 16
                                    else:
                                        o2.topic_id = ZERO_UUID
                                    n = buf[pos]
                                    pos += 1
                                    if n > 127:
                                        n, pos = read_length(buf, pos - 1)
                                    if n > 0:
                                        n -= 1
                                        if n * 20 > len(buf) - pos or n > 1000000:
                                            raise refuse_count("partitions", n, len(buf) - pos)
                                        o2.partitions = a2 = []
                                        for _ in range(n):
                                            o3 = _new(OffsetFetchResponsePartitions)
                                            o3.partition_index, o3.committed_offset, o3.committed_leader_epoch, n = _u_iqiB(buf, pos)
                                            pos += 17
                                            if n > 127:
                                                n, pos = read_string_length(buf, pos - 1)
                                            if n > 0:
                                                e = pos + n - 1
                                                o3.metadata = str(buf[pos:e], "utf-8", "java")
                                                pos = e
                                            else:
                                                o3.metadata = None
                                            o3.error_code, n = _u_hB(buf, pos)
                                            pos += 3
                                            if n == 0:
                                                o3.unknown_tags = None
                                            else:
                                                n, pos = read_tag_count(buf, pos - 1)
                                                o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                            a2.append(o3)
                                    else:
                                        raise refuse_null("partitions")
                                    n = buf[pos]
                                    pos += 1
                                    if n == 0:
                                        o2.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a1.append(o2)
                            else:
                                raise refuse_null("topics")
                            o1.error_code, n = _u_hB(buf, pos)
                            pos += 3
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        raise refuse_null("groups")
                else:
                    o.groups = []
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 3:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(OffsetFetchResponseTopic)
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
                            if n * 16 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(OffsetFetchResponsePartition)
                                o2.partition_index, o2.committed_offset = _u_iq(buf, pos)
                                pos += 12
                                if version >= 5:
                                    (o2.committed_leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.committed_leader_epoch = -1
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.metadata = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.metadata = None
                                (o2.error_code,) = _u_h(buf, pos)
                                pos += 2
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                if version >= 2:
                    (o.error_code,) = _u_h(buf, pos)
                    pos += 2
                else:
                    o.error_code = 0
                o.groups = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"OffsetFetchResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"OffsetFetchResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 10:
            raise EncodeError(f"OffsetFetchResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
                w += _p_i(o.throttle_time_ms)
                if version <= 7:
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
                            w += _p_iqi(o2.partition_index, o2.committed_offset, o2.committed_leader_epoch)
                            if o2.metadata is None:
                                w.append(0)
                            else:
                                s = o2.metadata.encode()
                                n = len(s) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_string_length(w, n)
                                w += s
                            w += _p_h(o2.error_code)
                            if o2.unknown_tags:
                                put_tags(w, {}, o2.unknown_tags)
                            else:
                                w.append(0)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                    w += _p_h(o.error_code)
                elif len(o.topics) != 0:
                    raise refuse_field("topics", version)
                if version >= 8:
                    n = len(o.groups) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.groups:
                        s = o1.group_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        n = len(o1.topics) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o2 in o1.topics:
                            if version <= 9:
                                s = o2.name.encode()
                                n = len(s) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_string_length(w, n)
                                w += s
                            if version >= 10:
                                w += _p_u(o2.topic_id)
                            n = len(o2.partitions) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_uvarint(w, n)
                            for o3 in o2.partitions:
                                w += _p_iqi(o3.partition_index, o3.committed_offset, o3.committed_leader_epoch)
                                if o3.metadata is None:
                                    w.append(0)
                                else:
                                    s = o3.metadata.encode()
                                    n = len(s) + 1
                                    if n < 128:
                                        w.append(n)
                                    else:
                                        put_string_length(w, n)
                                    w += s
                                w += _p_h(o3.error_code)
                                if o3.unknown_tags:
                                    put_tags(w, {}, o3.unknown_tags)
                                else:
                                    w.append(0)
                            if o2.unknown_tags:
                                put_tags(w, {}, o2.unknown_tags)
                            else:
                                w.append(0)
                        w += _p_h(o1.error_code)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.groups) != 0:
                    raise refuse_field("groups", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.groups) != 0:
                    raise refuse_field("groups", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 3:
                    w += _p_i(o.throttle_time_ms)
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
                        if version >= 5:
                            w += _p_i(o2.committed_leader_epoch)
                        if o2.metadata is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.metadata.encode()
                            w += _p_h(len(s))
                            w += s
                        w += _p_h(o2.error_code)
                if version >= 2:
                    w += _p_h(o.error_code)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"OffsetFetchResponse v{version}: {error}") from error


class OffsetFetchResponseTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class OffsetFetchResponsePartition(Message):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags = unknown_tags


class OffsetFetchResponseGroup(Message):
    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = FRESH,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is FRESH else topics
        self.error_code = error_code
        self.unknown_tags = unknown_tags


class OffsetFetchResponseTopics(Message):
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
        partitions: list[OffsetFetchResponsePartitions] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class OffsetFetchResponsePartitions(Message):
    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tags = unknown_tags
