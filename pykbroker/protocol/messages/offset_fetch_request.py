"""OffsetFetchRequest (request 9, versions 1-10).

Generated from schemas/api/offset_fetch.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    PACK_INT32S,
    READ_INT32S,
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
_p_u = Struct(">16s").pack
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class OffsetFetchRequest(Message):
    __slots__ = (
        "group_id",
        "topics",
        "groups",
        "require_stable",
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
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = FRESH,
        groups: list[OffsetFetchRequestGroup] = FRESH,
        require_stable: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is FRESH else topics
        self.groups = [] if groups is FRESH else groups
        self.require_stable = require_stable
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 10:
            raise refuse_version("OffsetFetchRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 6:
                if version <= 7:
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > most:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o.topics = a = []
                        for _ in range(n):
                            o1 = _new(OffsetFetchRequestTopic)
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
                                if n * 4 > len(buf) - pos or n > most:
                                    raise refuse_count("partition_indexes", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("partition_indexes")
                                if n < 16:
                                    o1.partition_indexes = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("partition_indexes")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        o.topics = None
                else:
                    o.group_id = ""
                    o.topics = []
                if version >= 8:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > most:
                            raise refuse_count("groups", n, len(buf) - pos)
                        o.groups = a = []
                        for _ in range(n):
                            o1 = _new(OffsetFetchRequestGroup)
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
                            if version >= 9:
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o1.member_id = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o1.member_id = None
                                (o1.member_epoch,) = _u_i(buf, pos)
                                pos += 4
                            else:
                                o1.member_id = None
                                o1.member_epoch = -1
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 2 > len(buf) - pos or n > most:
                                    raise refuse_count("topics", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("topics")
                                o1.topics = a1 = []
                                for _ in range(n):
                                    o2 = _new(OffsetFetchRequestTopics)
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
                                        if n * 4 > len(buf) - pos or n > most:
                                            raise refuse_count("partition_indexes", n, len(buf) - pos)
                                        left -= n
                                        if left < 0:
                                            raise refuse_total("partition_indexes")
                                        if n < 16:
                                            o2.partition_indexes = [*READ_INT32S[n](buf, pos)]
                                        else:
                                            o2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                                        pos += 4 * n
                                    else:
                                        raise refuse_null("partition_indexes")
                                    n = buf[pos]
                                    pos += 1
                                    if n == 0:
                                        o2.unknown_tags = None
                                    else:
                                        n, pos = read_tag_count(buf, pos - 1)
                                        o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                    a1.append(o2)
                            else:
                                o1.topics = None
                            n = buf[pos]
                            pos += 1
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
                if version >= 7:
                    o.require_stable = buf[pos] != 0
                    pos += 1
                else:
                    o.require_stable = False
                n = buf[pos]
                pos += 1
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
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(OffsetFetchRequestTopic)
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
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("partition_indexes", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partition_indexes")
                            if n < 16:
                                o1.partition_indexes = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
                        else:
                            raise refuse_null("partition_indexes")
                        o1.unknown_tags = None
                        a.append(o1)
                elif version >= 2:
                    o.topics = None
                else:
                    raise refuse_null("topics")
                o.groups = []
                o.require_stable = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"OffsetFetchRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"OffsetFetchRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 10:
            raise EncodeError(f"OffsetFetchRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 6:
                if version <= 7:
                    s = o.group_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if o.topics is None:
                        w.append(0)
                    else:
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
                            n = len(o1.partition_indexes) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_uvarint(w, n)
                            if n < 17:
                                w += PACK_INT32S[n - 1](*o1.partition_indexes)
                            else:
                                w += pack(f">{len(o1.partition_indexes)}i", *o1.partition_indexes)
                            if o1.unknown_tags:
                                put_tags(w, {}, o1.unknown_tags)
                            else:
                                w.append(0)
                elif o.group_id != "":
                    raise refuse_field("group_id", version)
                elif (o.topics is None or len(o.topics) != 0):
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
                        if version >= 9:
                            if o1.member_id is None:
                                w.append(0)
                            else:
                                s = o1.member_id.encode()
                                n = len(s) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_string_length(w, n)
                                w += s
                            w += _p_i(o1.member_epoch)
                        if o1.topics is None:
                            w.append(0)
                        else:
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
                                n = len(o2.partition_indexes) + 1
                                if n < 128:
                                    w.append(n)
                                else:
                                    put_uvarint(w, n)
                                if n < 17:
                                    w += PACK_INT32S[n - 1](*o2.partition_indexes)
                                else:
                                    w += pack(f">{len(o2.partition_indexes)}i", *o2.partition_indexes)
                                if o2.unknown_tags:
                                    put_tags(w, {}, o2.unknown_tags)
                                else:
                                    w.append(0)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.groups) != 0:
                    raise refuse_field("groups", version)
                if version >= 7:
                    w += _p_o(o.require_stable)
                elif o.require_stable:
                    raise refuse_field("require_stable", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.groups) != 0:
                    raise refuse_field("groups", version)
                if o.require_stable:
                    raise refuse_field("require_stable", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.group_id.encode()
                w += _p_h(len(s))
                w += s
                if o.topics is None:
                    if not version >= 2:
                        raise EncodeError("topics is null")
                    w += b"\xff\xff\xff\xff"
                else:
                    w += _p_i(len(o.topics))
                    for o1 in o.topics:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.name.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o1.partition_indexes))
                        if len(o1.partition_indexes) < 16:
                            w += PACK_INT32S[len(o1.partition_indexes)](*o1.partition_indexes)
                        else:
                            w += pack(f">{len(o1.partition_indexes)}i", *o1.partition_indexes)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"OffsetFetchRequest v{version}: {error}") from error


class OffsetFetchRequestTopic(Message):
    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is FRESH else partition_indexes
        self.unknown_tags = unknown_tags


class OffsetFetchRequestGroup(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class OffsetFetchRequestTopics(Message):
    __slots__ = (
        "name",
        "topic_id",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is FRESH else partition_indexes
        self.unknown_tags = unknown_tags
