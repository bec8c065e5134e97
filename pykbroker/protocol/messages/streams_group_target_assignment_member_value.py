"""StreamsGroupTargetAssignmentMemberValue (value 21, versions 0-0).

Generated from schemas/group_coordinator/streams_group_target_assignment_member.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__


class StreamsGroupTargetAssignmentMemberValue(Message):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tags",
    )

    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        active_tasks: list[TaskIds] = FRESH,
        standby_tasks: list[TaskIds] = FRESH,
        warmup_tasks: list[TaskIds] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.active_tasks = [] if active_tasks is FRESH else active_tasks
        self.standby_tasks = [] if standby_tasks is FRESH else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is FRESH else warmup_tasks
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("StreamsGroupTargetAssignmentMemberValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("active_tasks", n, len(buf) - pos)
                o.active_tasks = a = []
                for _ in range(n):
                    x, pos = _read_TaskIds(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("active_tasks")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("standby_tasks", n, len(buf) - pos)
                o.standby_tasks = a = []
                for _ in range(n):
                    x, pos = _read_TaskIds(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("standby_tasks")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("warmup_tasks", n, len(buf) - pos)
                o.warmup_tasks = a = []
                for _ in range(n):
                    x, pos = _read_TaskIds(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("warmup_tasks")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupTargetAssignmentMemberValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupTargetAssignmentMemberValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"StreamsGroupTargetAssignmentMemberValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.active_tasks) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.active_tasks:
                _write_TaskIds(x, w, version)
            n = len(o.standby_tasks) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.standby_tasks:
                _write_TaskIds(x, w, version)
            n = len(o.warmup_tasks) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.warmup_tasks:
                _write_TaskIds(x, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupTargetAssignmentMemberValue v{version}: {error}") from error


class TaskIds(Message):
    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _read_TaskIds(buf: bytes | memoryview, pos: int, version: int) -> tuple[TaskIds, int]:
    o = _new(TaskIds)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.subtopology_id = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("subtopology_id")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 4 > len(buf) - pos or n > 1000000:
            raise refuse_count("partitions", n, len(buf) - pos)
        if n < 16:
            o.partitions = [*READ_INT32S[n](buf, pos)]
        else:
            o.partitions = list(unpack_from(f">{n}i", buf, pos))
        pos += 4 * n
    else:
        raise refuse_null("partitions")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_TaskIds(o: TaskIds, w: bytearray, version: int) -> None:
    s = o.subtopology_id.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    n = len(o.partitions) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    if n < 17:
        w += PACK_INT32S[n - 1](*o.partitions)
    else:
        w += pack(f">{len(o.partitions)}i", *o.partitions)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
