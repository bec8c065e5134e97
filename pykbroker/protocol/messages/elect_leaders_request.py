"""ElectLeadersRequest (request 43, versions 0-2).

Generated from schemas/api/elect_leaders.txt by pykbroker.protocol.generate: do not edit.
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
_u_b = Struct(">b").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class ElectLeadersRequest(Message):
    __slots__ = (
        "election_type",
        "topic_partitions",
        "timeout_ms",
        "unknown_tags",
    )

    API_KEY = 43
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = FRESH,
        timeout_ms: int = 60000,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is FRESH else topic_partitions
        self.timeout_ms = timeout_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("ElectLeadersRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 2:
                o.election_type, n = _u_bB(buf, pos)
                pos += 2
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("topic_partitions", n, len(buf) - pos)
                    o.topic_partitions = a = []
                    for _ in range(n):
                        o1 = _new(TopicPartitions)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            if n < 16:
                                o1.partitions = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partitions = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
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
                    o.topic_partitions = None
                o.timeout_ms, n = _u_iB(buf, pos)
                pos += 5
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 1:
                    (o.election_type,) = _u_b(buf, pos)
                    pos += 1
                else:
                    o.election_type = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("topic_partitions", n, len(buf) - pos)
                    o.topic_partitions = a = []
                    for _ in range(n):
                        o1 = _new(TopicPartitions)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("partitions")
                            if n < 16:
                                o1.partitions = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partitions = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
                        else:
                            raise refuse_null("partitions")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    o.topic_partitions = None
                (o.timeout_ms,) = _u_i(buf, pos)
                pos += 4
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ElectLeadersRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ElectLeadersRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"ElectLeadersRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_b(o.election_type)
                if o.topic_partitions is None:
                    w.append(0)
                else:
                    n = len(o.topic_partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.topic_partitions:
                        s = o1.topic.encode()
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
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o1.partitions)
                        else:
                            w += pack(f">{len(o1.partitions)}i", *o1.partitions)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                w += _p_i(o.timeout_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 1:
                    w += _p_b(o.election_type)
                elif o.election_type != 0:
                    raise refuse_field("election_type", version)
                if o.topic_partitions is None:
                    w += b"\xff\xff\xff\xff"
                else:
                    w += _p_i(len(o.topic_partitions))
                    for o1 in o.topic_partitions:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.topic.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o1.partitions))
                        if len(o1.partitions) < 16:
                            w += PACK_INT32S[len(o1.partitions)](*o1.partitions)
                        else:
                            w += pack(f">{len(o1.partitions)}i", *o1.partitions)
                w += _p_i(o.timeout_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ElectLeadersRequest v{version}: {error}") from error


class TopicPartitions(Message):
    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags
