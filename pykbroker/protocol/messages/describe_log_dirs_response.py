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
                        x, pos = _read_DescribeLogDirsResult(buf, pos, version)
                        a.append(x)
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
                        x, pos = _read_DescribeLogDirsResult(buf, pos, version)
                        a.append(x)
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
                for x in o.results:
                    _write_DescribeLogDirsResult(x, w, version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ii(o.throttle_time_ms, len(o.results))
                for x in o.results:
                    _write_DescribeLogDirsResult(x, w, version)
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


def _read_DescribeLogDirsResult(buf: bytes | memoryview, pos: int, version: int) -> tuple[DescribeLogDirsResult, int]:
    o = _new(DescribeLogDirsResult)
    if version >= 2:
        o.error_code, n = _u_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.log_dir = str(buf[pos:e], "utf-8", "java")
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
            o.topics = a = []
            for _ in range(n):
                x, pos = _read_DescribeLogDirsTopic(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("topics")
        if version >= 4:
            o.total_bytes, o.usable_bytes = _u_qq(buf, pos)
            pos += 16
        else:
            o.total_bytes = -1
            o.usable_bytes = -1
        if version >= 5:
            o.is_cordoned = buf[pos] != 0
            pos += 1
        else:
            o.is_cordoned = False
        n = buf[pos]
        pos += 1
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.error_code, n = _u_hh(buf, pos)
        pos += 4
        if n >= 0:
            e = pos + n
            o.log_dir = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("log_dir")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 6 > len(buf) - pos or n > 1000000:
                raise refuse_count("topics", n, len(buf) - pos)
            o.topics = a = []
            for _ in range(n):
                x, pos = _read_DescribeLogDirsTopic(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("topics")
        o.total_bytes = -1
        o.usable_bytes = -1
        o.is_cordoned = False
        o.unknown_tags = None
    return o, pos


def _write_DescribeLogDirsResult(o: DescribeLogDirsResult, w: bytearray, version: int) -> None:
    if version >= 2:
        s = o.log_dir.encode()
        w += _p_h(o.error_code)
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
        for x in o.topics:
            _write_DescribeLogDirsTopic(x, w, version)
        if version >= 4:
            w += _p_qq(o.total_bytes, o.usable_bytes)
        if version >= 5:
            w += _p_o(o.is_cordoned)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.log_dir.encode()
        w += _p_hh(o.error_code, len(s))
        w += s
        w += _p_i(len(o.topics))
        for x in o.topics:
            _write_DescribeLogDirsTopic(x, w, version)


def _read_DescribeLogDirsTopic(buf: bytes | memoryview, pos: int, version: int) -> tuple[DescribeLogDirsTopic, int]:
    o = _new(DescribeLogDirsTopic)
    if version >= 2:
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.name = str(buf[pos:e], "utf-8", "java")
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
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_DescribeLogDirsPartition(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        n = buf[pos]
        pos += 1
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        (n,) = _u_h(buf, pos)
        pos += 2
        if n >= 0:
            e = pos + n
            o.name = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("name")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 21 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_DescribeLogDirsPartition(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        o.unknown_tags = None
    return o, pos


def _write_DescribeLogDirsTopic(o: DescribeLogDirsTopic, w: bytearray, version: int) -> None:
    if version >= 2:
        s = o.name.encode()
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
        for x in o.partitions:
            _write_DescribeLogDirsPartition(x, w, version)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.name.encode()
        w += _p_h(len(s))
        w += s
        w += _p_i(len(o.partitions))
        for x in o.partitions:
            _write_DescribeLogDirsPartition(x, w, version)


def _read_DescribeLogDirsPartition(buf: bytes | memoryview, pos: int, version: int) -> tuple[DescribeLogDirsPartition, int]:
    o = _new(DescribeLogDirsPartition)
    if version >= 2:
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key, n = _u_iqqoB(buf, pos)
        pos += 22
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.partition_index, o.partition_size, o.offset_lag, o.is_future_key = _u_iqqo(buf, pos)
        pos += 21
        o.unknown_tags = None
    return o, pos


def _write_DescribeLogDirsPartition(o: DescribeLogDirsPartition, w: bytearray, version: int) -> None:
    if version >= 2:
        w += _p_iqqo(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        w += _p_iqqo(o.partition_index, o.partition_size, o.offset_lag, o.is_future_key)
