"""AlterPartitionReassignmentsResponse (response 45, versions 0-1).

Generated from schemas/api/alter_partition_reassignments.txt by pykbroker.protocol.generate: do not edit.
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
_u_hB = Struct(">hB").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
        "unknown_tags",
    )

    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is FRESH else responses
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("AlterPartitionReassignmentsResponse", version)
        o = _new(cls)
        try:
            (o.throttle_time_ms,) = _u_i(buf, pos)
            pos += 4
            if version >= 1:
                o.allow_replication_factor_change = buf[pos] != 0
                pos += 1
            else:
                o.allow_replication_factor_change = True
            o.error_code, n = _u_hB(buf, pos)
            pos += 3
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
                    raise refuse_count("responses", n, len(buf) - pos)
                o.responses = a = []
                for _ in range(n):
                    o1 = _new(ReassignableTopicResponse)
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
                            o2 = _new(ReassignablePartitionResponse)
                            o2.partition_index, o2.error_code, n = _u_ihB(buf, pos)
                            pos += 7
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.error_message = None
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
                raise refuse_null("responses")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterPartitionReassignmentsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterPartitionReassignmentsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"AlterPartitionReassignmentsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.throttle_time_ms)
            if version >= 1:
                w += _p_o(o.allow_replication_factor_change)
            w += _p_h(o.error_code)
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
            n = len(o.responses) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.responses:
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
                    w += _p_ih(o2.partition_index, o2.error_code)
                    if o2.error_message is None:
                        w.append(0)
                    else:
                        s = o2.error_message.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
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
            raise EncodeError(f"AlterPartitionReassignmentsResponse v{version}: {error}") from error


class ReassignableTopicResponse(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class ReassignablePartitionResponse(Message):
    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
