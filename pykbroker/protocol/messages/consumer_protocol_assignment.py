"""ConsumerProtocolAssignment (data, versions 0-3).

Generated from schemas/consumer_protocol/consumer_protocol_assignment.txt by pykbroker.protocol.generate: do not edit.
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


class ConsumerProtocolAssignment(Message):
    __slots__ = (
        "assigned_partitions",
        "user_data",
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
        assigned_partitions: list[TopicPartition] = FRESH,
        user_data: bytes | memoryview | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is FRESH else assigned_partitions
        self.user_data = user_data
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 3:
            raise refuse_version("ConsumerProtocolAssignment", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("assigned_partitions", n, len(buf) - pos)
                o.assigned_partitions = a = []
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
                raise refuse_null("assigned_partitions")
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                e = pos + n
                o.user_data = bytes(buf[pos:e])
                pos = e
            else:
                o.user_data = None
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerProtocolAssignment v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerProtocolAssignment v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 3:
            raise EncodeError(f"ConsumerProtocolAssignment has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_i(len(o.assigned_partitions))
            for o1 in o.assigned_partitions:
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
            if o.user_data is None:
                w += b"\xff\xff\xff\xff"
            else:
                size = part_size(o.user_data)
                w += _p_i(size)
                w = put_part(out, w, o.user_data, size)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerProtocolAssignment v{version}: {error}") from error


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
