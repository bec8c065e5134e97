"""CreateTopicsRequest (request 19, versions 2-7).

Generated from schemas/api/create_topics.txt by pykbroker.protocol.generate: do not edit.
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
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_io = Struct(">i?").unpack_from
_u_ioB = Struct(">i?B").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ihi = Struct(">ihi").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_io = Struct(">i?").pack
_p_ih = Struct(">ih").pack
_p_ihi = Struct(">ihi").pack
_p_ii = Struct(">ii").pack


class CreateTopicsRequest(Message):
    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
        "unknown_tags",
    )

    API_KEY = 19
    MIN_VERSION = 2
    MAX_VERSION = 7
    LATEST_VERSION = 7
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        *,
        topics: list[CreatableTopic] = FRESH,
        timeout_ms: int = 60000,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topics = [] if topics is FRESH else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 2 <= version <= 7:
            raise refuse_version("CreateTopicsRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 5:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 10 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(CreatableTopic)
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
                        o1.num_partitions, o1.replication_factor, n = _u_ihB(buf, pos)
                        pos += 7
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 6 > len(buf) - pos or n > most:
                                raise refuse_count("assignments", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("assignments")
                            o1.assignments = a1 = []
                            for _ in range(n):
                                o2 = _new(CreatableReplicaAssignment)
                                o2.partition_index, n = _u_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 4 > len(buf) - pos or n > most:
                                        raise refuse_count("broker_ids", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("broker_ids")
                                    if n < 16:
                                        o2.broker_ids = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("broker_ids")
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("assignments")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 3 > len(buf) - pos or n > most:
                                raise refuse_count("configs", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configs")
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(CreatableTopicConfig)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
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
                o.timeout_ms, o.validate_only, n = _u_ioB(buf, pos)
                pos += 6
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 16 > len(buf) - pos or n > most:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(CreatableTopic)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        o1.num_partitions, o1.replication_factor, n = _u_ihi(buf, pos)
                        pos += 10
                        if n >= 0:
                            if n * 8 > len(buf) - pos or n > most:
                                raise refuse_count("assignments", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("assignments")
                            o1.assignments = a1 = []
                            for _ in range(n):
                                o2 = _new(CreatableReplicaAssignment)
                                o2.partition_index, n = _u_ii(buf, pos)
                                pos += 8
                                if n >= 0:
                                    if n * 4 > len(buf) - pos or n > most:
                                        raise refuse_count("broker_ids", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("broker_ids")
                                    if n < 16:
                                        o2.broker_ids = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("broker_ids")
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("assignments")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("configs", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configs")
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(CreatableTopicConfig)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                o.timeout_ms, o.validate_only = _u_io(buf, pos)
                pos += 5
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"CreateTopicsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"CreateTopicsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 2 <= version <= 7:
            raise EncodeError(f"CreateTopicsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 5:
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
                    w += _p_ih(o1.num_partitions, o1.replication_factor)
                    n = len(o1.assignments) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.assignments:
                        w += _p_i(o2.partition_index)
                        n = len(o2.broker_ids) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.broker_ids)
                        else:
                            w += pack(f">{len(o2.broker_ids)}i", *o2.broker_ids)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    n = len(o1.configs) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.configs:
                        s = o2.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o2.value is None:
                            w.append(0)
                        else:
                            s = o2.value.encode()
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
                w += _p_io(o.timeout_ms, o.validate_only)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.topics))
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_ihi(o1.num_partitions, o1.replication_factor, len(o1.assignments))
                    for o2 in o1.assignments:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_ii(o2.partition_index, len(o2.broker_ids))
                        if len(o2.broker_ids) < 16:
                            w += PACK_INT32S[len(o2.broker_ids)](*o2.broker_ids)
                        else:
                            w += pack(f">{len(o2.broker_ids)}i", *o2.broker_ids)
                    w += _p_i(len(o1.configs))
                    for o2 in o1.configs:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.name.encode()
                        w += _p_h(len(s))
                        w += s
                        if o2.value is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.value.encode()
                            w += _p_h(len(s))
                            w += s
                w += _p_io(o.timeout_ms, o.validate_only)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"CreateTopicsRequest v{version}: {error}") from error


class CreatableTopic(Message):
    __slots__ = (
        "name",
        "num_partitions",
        "replication_factor",
        "assignments",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = FRESH,
        configs: list[CreatableTopicConfig] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is FRESH else assignments
        self.configs = [] if configs is FRESH else configs
        self.unknown_tags = unknown_tags


class CreatableReplicaAssignment(Message):
    __slots__ = (
        "partition_index",
        "broker_ids",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        broker_ids: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is FRESH else broker_ids
        self.unknown_tags = unknown_tags


class CreatableTopicConfig(Message):
    __slots__ = (
        "name",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tags = unknown_tags
