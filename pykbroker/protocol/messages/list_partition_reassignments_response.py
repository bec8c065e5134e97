"""ListPartitionReassignmentsResponse (response 46, versions 0-0).

Generated from schemas/api/list_partition_reassignments.txt by pykbroker.protocol.generate: do not edit.
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
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class ListPartitionReassignmentsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "topics",
        "unknown_tags",
    )

    API_KEY = 46
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ListPartitionReassignmentsResponse", version)
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
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(OngoingTopicReassignment)
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
                        if n * 8 > len(buf) - pos or n > 1000000:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(OngoingPartitionReassignment)
                            o2.partition_index, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("replicas", n, len(buf) - pos)
                                if n < 16:
                                    o2.replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("replicas")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("adding_replicas", n, len(buf) - pos)
                                if n < 16:
                                    o2.adding_replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.adding_replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("adding_replicas")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 4 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("removing_replicas", n, len(buf) - pos)
                                if n < 16:
                                    o2.removing_replicas = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.removing_replicas = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("removing_replicas")
                            n = buf[pos]
                            pos += 1
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
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListPartitionReassignmentsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListPartitionReassignmentsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ListPartitionReassignmentsResponse has no version {version}")
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
                    w += _p_i(o2.partition_index)
                    n = len(o2.replicas) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.replicas)
                    else:
                        w += pack(f">{len(o2.replicas)}i", *o2.replicas)
                    n = len(o2.adding_replicas) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.adding_replicas)
                    else:
                        w += pack(f">{len(o2.adding_replicas)}i", *o2.adding_replicas)
                    n = len(o2.removing_replicas) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.removing_replicas)
                    else:
                        w += pack(f">{len(o2.removing_replicas)}i", *o2.removing_replicas)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListPartitionReassignmentsResponse v{version}: {error}") from error


class OngoingTopicReassignment(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class OngoingPartitionReassignment(Message):
    __slots__ = (
        "partition_index",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replicas: list[int] = FRESH,
        adding_replicas: list[int] = FRESH,
        removing_replicas: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is FRESH else replicas
        self.adding_replicas = [] if adding_replicas is FRESH else adding_replicas
        self.removing_replicas = [] if removing_replicas is FRESH else removing_replicas
        self.unknown_tags = unknown_tags
