"""DescribeLogDirsResponse (response 35, versions 1-5).

Generated from schemas/api/describe_log_dirs.txt by pykbroker.protocol.generate: do not edit.
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
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_iqqo = Struct(">iqq?").unpack_from
_u_iqqoB = Struct(">iqq?B").unpack_from
_u_qq = Struct(">qq").unpack_from
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack
_p_iqqo = Struct(">iqq?").pack
_p_qq = Struct(">qq").pack


class DescribeLogDirsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results",
        "unknown_tags",
    )

    API_KEY = 35
    MIN_VERSION = 1
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is FRESH else results
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 5:
            raise refuse_version("DescribeLogDirsResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 3:
                    (o.error_code,) = _u_h(buf, pos)
                    pos += 2
                else:
                    o.error_code = 0
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("results", n, len(buf) - pos)
                    o.results = a = []
                    for _ in range(n):
                        o1 = _new(DescribeLogDirsResult)
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.log_dir = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("log_dir")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 3 > len(buf) - pos or n > 1000000:
                                raise refuse_count("topics", n, len(buf) - pos)
                            o1.topics = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribeLogDirsTopic)
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
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 22 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("partitions", n, len(buf) - pos)
                                    o2.partitions = a2 = []
                                    for _ in range(n):
                                        o3 = _new(DescribeLogDirsPartition)
                                        o3.partition_index, o3.partition_size, o3.offset_lag, o3.is_future_key, n = _u_iqqoB(buf, pos)
                                        pos += 22
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    raise refuse_null("partitions")
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("topics")
                        if version >= 4:
                            o1.total_bytes, o1.usable_bytes = _u_qq(buf, pos)
                            pos += 16
                        else:
                            o1.total_bytes = -1
                            o1.usable_bytes = -1
                        if version >= 5:
                            o1.is_cordoned = buf[pos] != 0
                            pos += 1
                        else:
                            o1.is_cordoned = False
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("results")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, n = _u_ii(buf, pos)
                pos += 8
                if n >= 0:
                    if n * 8 > len(buf) - pos or n > 1000000:
                        raise refuse_count("results", n, len(buf) - pos)
                    o.results = a = []
                    for _ in range(n):
                        o1 = _new(DescribeLogDirsResult)
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.log_dir = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("log_dir")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 6 > len(buf) - pos or n > 1000000:
                                raise refuse_count("topics", n, len(buf) - pos)
                            o1.topics = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribeLogDirsTopic)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    if n * 21 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("partitions", n, len(buf) - pos)
                                    o2.partitions = a2 = []
                                    for _ in range(n):
                                        o3 = _new(DescribeLogDirsPartition)
                                        o3.partition_index, o3.partition_size, o3.offset_lag, o3.is_future_key = _u_iqqo(buf, pos)
                                        pos += 21
                                        o3.unknown_tags = None
                                        a2.append(o3)
                                else:
                                    raise refuse_null("partitions")
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("topics")
                        o1.total_bytes = -1
                        o1.usable_bytes = -1
                        o1.is_cordoned = False
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("results")
                o.error_code = 0
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeLogDirsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeLogDirsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 5:
            raise EncodeError(f"DescribeLogDirsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_i(o.throttle_time_ms)
                if version >= 3:
                    w += _p_h(o.error_code)
                n = len(o.results) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.results:
                    s = o1.log_dir.encode()
                    w += _p_h(o1.error_code)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.topics:
                        s = o2.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        n = len(o2.partitions) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o3 in o2.partitions:
                            w += _p_iqqo(o3.partition_index, o3.partition_size, o3.offset_lag, o3.is_future_key)
                            if o3.unknown_tags:
                                put_tags(w, {}, o3.unknown_tags)
                            else:
                                w.append(0)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if version >= 4:
                        w += _p_qq(o1.total_bytes, o1.usable_bytes)
                    if version >= 5:
                        w += _p_o(o1.is_cordoned)
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
                w += _p_ii(o.throttle_time_ms, len(o.results))
                for o1 in o.results:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.log_dir.encode()
                    w += _p_hh(o1.error_code, len(s))
                    w += s
                    w += _p_i(len(o1.topics))
                    for o2 in o1.topics:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.name.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o2.partitions))
                        for o3 in o2.partitions:
                            if o3.unknown_tags:
                                raise refuse_field("unknown_tags", version)
                            w += _p_iqqo(o3.partition_index, o3.partition_size, o3.offset_lag, o3.is_future_key)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeLogDirsResponse v{version}: {error}") from error


class DescribeLogDirsResult(Message):
    __slots__ = (
        "error_code",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
        "is_cordoned",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = FRESH,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is FRESH else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        self.unknown_tags = unknown_tags


class DescribeLogDirsTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class DescribeLogDirsPartition(Message):
    __slots__ = (
        "partition_index",
        "partition_size",
        "offset_lag",
        "is_future_key",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        self.unknown_tags = unknown_tags
