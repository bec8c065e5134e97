"""ShareGroupTargetAssignmentMemberValue (value 13, versions 0-0).

Generated from schemas/group_coordinator/share_group_target_assignment_member.txt by pykbroker.protocol.generate: do not edit.
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
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_p_u = Struct(">16s").pack


class ShareGroupTargetAssignmentMemberValue(Message):
    __slots__ = (
        "topic_partitions",
        "unknown_tags",
    )

    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is FRESH else topic_partitions
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ShareGroupTargetAssignmentMemberValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topic_partitions", n, len(buf) - pos)
                o.topic_partitions = a = []
                for _ in range(n):
                    o1 = _new(TopicPartition)
                    o1.topic_id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 4 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
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
                raise refuse_null("topic_partitions")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareGroupTargetAssignmentMemberValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareGroupTargetAssignmentMemberValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ShareGroupTargetAssignmentMemberValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.topic_partitions) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topic_partitions:
                w += _p_u(o1.topic_id)
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
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareGroupTargetAssignmentMemberValue v{version}: {error}") from error


class TopicPartition(Message):
    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags
