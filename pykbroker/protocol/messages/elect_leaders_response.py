"""ElectLeadersResponse (response 43, versions 0-2).

Generated from schemas/api/elect_leaders.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ihh = Struct(">ihh").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class ElectLeadersResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "replica_election_results",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is FRESH else replica_election_results
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("ElectLeadersResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
                        raise refuse_count("replica_election_results", n, len(buf) - pos)
                    o.replica_election_results = a = []
                    for _ in range(n):
                        o1 = _new(ReplicaElectionResult)
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
                            if n * 8 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_result", n, len(buf) - pos)
                            o1.partition_result = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionResult)
                                o2.partition_id, o2.error_code, n = _u_ihB(buf, pos)
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
                            raise refuse_null("partition_result")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("replica_election_results")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 1:
                    (o.error_code,) = _u_h(buf, pos)
                    pos += 2
                else:
                    o.error_code = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("replica_election_results", n, len(buf) - pos)
                    o.replica_election_results = a = []
                    for _ in range(n):
                        o1 = _new(ReplicaElectionResult)
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
                            if n * 8 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_result", n, len(buf) - pos)
                            o1.partition_result = a1 = []
                            for _ in range(n):
                                o2 = _new(PartitionResult)
                                o2.partition_id, o2.error_code, n = _u_ihh(buf, pos)
                                pos += 8
                                if n >= 0:
                                    e = pos + n
                                    o2.error_message = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.error_message = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partition_result")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("replica_election_results")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ElectLeadersResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ElectLeadersResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"ElectLeadersResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_ih(o.throttle_time_ms, o.error_code)
                n = len(o.replica_election_results) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.replica_election_results:
                    s = o1.topic.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.partition_result) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partition_result:
                        w += _p_ih(o2.partition_id, o2.error_code)
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
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(o.throttle_time_ms)
                if version >= 1:
                    w += _p_h(o.error_code)
                elif o.error_code != 0:
                    raise refuse_field("error_code", version)
                w += _p_i(len(o.replica_election_results))
                for o1 in o.replica_election_results:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.topic.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_i(len(o1.partition_result))
                    for o2 in o1.partition_result:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_ih(o2.partition_id, o2.error_code)
                        if o2.error_message is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.error_message.encode()
                            w += _p_h(len(s))
                            w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ElectLeadersResponse v{version}: {error}") from error


class ReplicaElectionResult(Message):
    __slots__ = (
        "topic",
        "partition_result",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: list[PartitionResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is FRESH else partition_result
        self.unknown_tags = unknown_tags


class PartitionResult(Message):
    __slots__ = (
        "partition_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
