"""ConsumerProtocolSubscription (data, versions 0-3).

Generated from schemas/consumer_protocol/consumer_protocol_subscription.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail, part_size, put_part
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    PACK_INT32S,
    READ_INT32S,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class ConsumerProtocolSubscription(Message):
    __slots__ = (
        "topics",
        "user_data",
        "owned_partitions",
        "generation_id",
        "rack_id",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        topics: list[str] = FRESH,
        user_data: bytes | memoryview | None = None,
        owned_partitions: list[TopicPartition] = FRESH,
        generation_id: int = -1,
        rack_id: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is FRESH else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 3:
            raise refuse_version("ConsumerProtocolSubscription", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                if n * 2 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    (m,) = _u_h(buf, pos)
                    pos += 2
                    if m < 0:
                        raise refuse_null("topics element")
                    e = pos + m
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("topics")
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                e = pos + n
                o.user_data = bytes(buf[pos:e])
                pos = e
            else:
                o.user_data = None
            if version >= 1:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("owned_partitions", n, len(buf) - pos)
                    o.owned_partitions = a = []
                    for _ in range(n):
                        o1 = _new(TopicPartition)
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
                            if n * 4 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
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
                    raise refuse_null("owned_partitions")
            else:
                o.owned_partitions = []
            if version >= 2:
                (o.generation_id,) = _u_i(buf, pos)
                pos += 4
            else:
                o.generation_id = -1
            if version >= 3:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.rack_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.rack_id = None
            else:
                o.rack_id = None
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerProtocolSubscription v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerProtocolSubscription v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 3:
            raise EncodeError(f"ConsumerProtocolSubscription has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_i(len(o.topics))
            for x in o.topics:
                s = x.encode()
                w += _p_h(len(s))
                w += s
            if o.user_data is None:
                w += b"\xff\xff\xff\xff"
            else:
                size = part_size(o.user_data)
                w += _p_i(size)
                w = put_part(out, w, o.user_data, size)
            if version >= 1:
                w += _p_i(len(o.owned_partitions))
                for o1 in o.owned_partitions:
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
            if version >= 2:
                w += _p_i(o.generation_id)
            if version >= 3:
                if o.rack_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.rack_id.encode()
                    w += _p_h(len(s))
                    w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerProtocolSubscription v{version}: {error}") from error


class TopicPartition(Message):
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
