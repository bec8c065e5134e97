"""DeleteTopicsRequest (request 20, versions 1-6).

Generated from schemas/api/delete_topics.txt by pykbroker.protocol.generate: do not edit.
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
_u_uB = Struct(">16sB").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class DeleteTopicsRequest(Message):
    __slots__ = (
        "topics",
        "topic_names",
        "timeout_ms",
        "unknown_tags",
    )

    API_KEY = 20
    MIN_VERSION = 1
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        topics: list[DeleteTopicState] = FRESH,
        topic_names: list[str] = FRESH,
        timeout_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.topic_names = [] if topic_names is FRESH else topic_names
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 1 <= version <= 6:
            raise refuse_version("DeleteTopicsRequest", version)
        o = _new(cls)
        try:
            if version >= 4:
                if version >= 6:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 18 > len(buf) - pos or n > most:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o.topics = a = []
                        for _ in range(n):
                            o1 = _new(DeleteTopicState)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.name = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.name = None
                            o1.topic_id, n = _u_uB(buf, pos)
                            pos += 17
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        raise refuse_null("topics")
                else:
                    o.topics = []
                if version <= 5:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > most:
                            raise refuse_count("topic_names", n, len(buf) - pos)
                        o.topic_names = a = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("topic_names element")
                            e = pos + m - 1
                            a.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("topic_names")
                else:
                    o.topic_names = []
                o.timeout_ms, n = _u_iB(buf, pos)
                pos += 5
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
                        raise refuse_count("topic_names", n, len(buf) - pos)
                    o.topic_names = a = []
                    for _ in range(n):
                        (m,) = _u_h(buf, pos)
                        pos += 2
                        if m < 0:
                            raise refuse_null("topic_names element")
                        e = pos + m
                        a.append(str(buf[pos:e], "utf-8", "java"))
                        pos = e
                else:
                    raise refuse_null("topic_names")
                (o.timeout_ms,) = _u_i(buf, pos)
                pos += 4
                o.topics = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteTopicsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteTopicsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 6:
            raise EncodeError(f"DeleteTopicsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                if version >= 6:
                    n = len(o.topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.topics:
                        if o1.name is None:
                            w.append(0)
                        else:
                            s = o1.name.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        w += _p_u(o1.topic_id)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.topics) != 0:
                    raise refuse_field("topics", version)
                if version <= 5:
                    n = len(o.topic_names) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.topic_names:
                        s = x.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                w += _p_i(o.timeout_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.topics) != 0:
                    raise refuse_field("topics", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.topic_names))
                for x in o.topic_names:
                    s = x.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(o.timeout_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteTopicsRequest v{version}: {error}") from error


class DeleteTopicState(Message):
    __slots__ = (
        "name",
        "topic_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tags = unknown_tags
