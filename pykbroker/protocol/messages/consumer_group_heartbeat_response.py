"""ConsumerGroupHeartbeatResponse (response 68, versions 0-1).

Generated from schemas/api/consumer_group_heartbeat.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iib = Struct(">iib").unpack_from
_p_u = Struct(">16s").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack


class ConsumerGroupHeartbeatResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "assignment",
        "unknown_tags",
    )

    API_KEY = 68
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("ConsumerGroupHeartbeatResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.error_message = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.error_message = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.member_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.member_id = None
            o.member_epoch, o.heartbeat_interval_ms, n = _u_iib(buf, pos)
            pos += 9
            if n < 0:
                o.assignment = None
            else:
                o.assignment, pos = _read_Assignment(buf, pos, version)
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerGroupHeartbeatResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerGroupHeartbeatResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"ConsumerGroupHeartbeatResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
            if o.error_message is None:
                w.append(0)
            else:
                s = o.error_message.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.member_id is None:
                w.append(0)
            else:
                s = o.member_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            w += _p_ii(o.member_epoch, o.heartbeat_interval_ms)
            if o.assignment is None:
                w.append(255)
            else:
                w.append(1)
                _write_Assignment(o.assignment, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerGroupHeartbeatResponse v{version}: {error}") from error


class Assignment(Message):
    __slots__ = (
        "topic_partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_partitions: list[TopicPartitions] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is FRESH else topic_partitions
        self.unknown_tags = unknown_tags


class TopicPartitions(Message):
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


def _read_Assignment(buf: bytes | memoryview, pos: int, version: int) -> tuple[Assignment, int]:
    o = _new(Assignment)
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
            o1 = _new(TopicPartitions)
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
    return o, pos


def _write_Assignment(o: Assignment, w: bytearray, version: int) -> None:
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
