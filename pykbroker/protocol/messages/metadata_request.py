"""MetadataRequest (request 3, versions 0-13).

Generated from schemas/api/metadata.txt by pykbroker.protocol.generate: do not edit.
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
_u_oo = Struct(">??").unpack_from
_u_oB = Struct(">?B").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_u = Struct(">16s").pack
_p_o = Struct(">?").pack
_p_oo = Struct(">??").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class MetadataRequest(Message):
    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "unknown_tags",
    )

    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    LATEST_VERSION = 13
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        *,
        topics: list[MetadataRequestTopic] | None = FRESH,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 13:
            raise refuse_version("MetadataRequest", version)
        o = _new(cls)
        try:
            if version >= 9:
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
                        o1 = _new(MetadataRequestTopic)
                        if version >= 10:
                            (o1.topic_id,) = _u_u(buf, pos)
                            pos += 16
                        else:
                            o1.topic_id = ZERO_UUID
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        elif version >= 10:
                            o1.name = None
                        else:
                            raise refuse_null("name")
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
                o.allow_auto_topic_creation = buf[pos] != 0
                pos += 1
                if version <= 10:
                    o.include_cluster_authorized_operations = buf[pos] != 0
                    pos += 1
                else:
                    o.include_cluster_authorized_operations = False
                o.include_topic_authorized_operations, n = _u_oB(buf, pos)
                pos += 2
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 2 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(MetadataRequestTopic)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
                elif version >= 1:
                    o.topics = None
                else:
                    raise refuse_null("topics")
                if version >= 4:
                    o.allow_auto_topic_creation = buf[pos] != 0
                    pos += 1
                else:
                    o.allow_auto_topic_creation = True
                if version >= 8:
                    o.include_cluster_authorized_operations, o.include_topic_authorized_operations = _u_oo(buf, pos)
                    pos += 2
                else:
                    o.include_cluster_authorized_operations = False
                    o.include_topic_authorized_operations = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"MetadataRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"MetadataRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 13:
            raise EncodeError(f"MetadataRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 9:
                if o.topics is None:
                    w.append(0)
                else:
                    n = len(o.topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.topics:
                        if version >= 10:
                            w += _p_u(o1.topic_id)
                        if o1.name is None:
                            if not version >= 10:
                                raise EncodeError("name is null")
                            w.append(0)
                        else:
                            s = o1.name.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                w += _p_o(o.allow_auto_topic_creation)
                if version <= 10:
                    w += _p_o(o.include_cluster_authorized_operations)
                elif o.include_cluster_authorized_operations:
                    raise refuse_field("include_cluster_authorized_operations", version)
                w += _p_o(o.include_topic_authorized_operations)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if o.topics is None:
                    if not version >= 1:
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
                if version >= 4:
                    w += _p_o(o.allow_auto_topic_creation)
                elif not o.allow_auto_topic_creation:
                    raise refuse_field("allow_auto_topic_creation", version)
                if version >= 8:
                    w += _p_oo(o.include_cluster_authorized_operations, o.include_topic_authorized_operations)
                elif o.include_cluster_authorized_operations:
                    raise refuse_field("include_cluster_authorized_operations", version)
                elif o.include_topic_authorized_operations:
                    raise refuse_field("include_topic_authorized_operations", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"MetadataRequest v{version}: {error}") from error


class MetadataRequestTopic(Message):
    __slots__ = (
        "topic_id",
        "name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.unknown_tags = unknown_tags
