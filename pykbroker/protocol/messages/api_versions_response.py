"""ApiVersionsResponse (response 18, versions 0-5).

Generated from schemas/api/api_versions.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hB = Struct(">hB").unpack_from
_u_hhB = Struct(">hhB").unpack_from
_u_hhh = Struct(">hhh").unpack_from
_u_hhhB = Struct(">hhhB").unpack_from
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_q = Struct(">q").unpack_from
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_hhh = Struct(">hhh").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class ApiVersionsResponse(Message):
    __slots__ = (
        "error_code",
        "api_keys",
        "throttle_time_ms",
        "supported_features",
        "finalized_features_epoch",
        "finalized_features",
        "zk_migration_ready",
        "unknown_tags",
    )

    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        error_code: int = 0,
        api_keys: list[ApiVersion] = FRESH,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = FRESH,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = FRESH,
        zk_migration_ready: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is FRESH else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is FRESH else supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = [] if finalized_features is FRESH else finalized_features
        self.zk_migration_ready = zk_migration_ready
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("ApiVersionsResponse", version)
        o = _new(cls)
        try:
            if version >= 3:
                o.error_code, n = _u_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 7 > len(buf) - pos or n > 1000000:
                        raise refuse_count("api_keys", n, len(buf) - pos)
                    o.api_keys = a = []
                    for _ in range(n):
                        o1 = _new(ApiVersion)
                        o1.api_key, o1.min_version, o1.max_version, n = _u_hhhB(buf, pos)
                        pos += 7
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("api_keys")
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                o.supported_features = []
                o.finalized_features_epoch = -1
                o.finalized_features = []
                o.zk_migration_ready = False
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_ApiVersionsResponse(o, buf, pos, version, n)
            else:
                o.error_code, n = _u_hi(buf, pos)
                pos += 6
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("api_keys", n, len(buf) - pos)
                    o.api_keys = a = []
                    for _ in range(n):
                        o1 = _new(ApiVersion)
                        o1.api_key, o1.min_version, o1.max_version = _u_hhh(buf, pos)
                        pos += 6
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("api_keys")
                if version >= 1:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                o.supported_features = []
                o.finalized_features_epoch = -1
                o.finalized_features = []
                o.zk_migration_ready = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ApiVersionsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ApiVersionsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"ApiVersionsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                w += _p_h(o.error_code)
                n = len(o.api_keys) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.api_keys:
                    w += _p_hhh(o1.api_key, o1.min_version, o1.max_version)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o.throttle_time_ms)
                if len(o.supported_features) != 0 or o.finalized_features_epoch != -1 or len(o.finalized_features) != 0 or o.zk_migration_ready or o.unknown_tags:
                    _put_tags_ApiVersionsResponse(o, w, version)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_hi(o.error_code, len(o.api_keys))
                for o1 in o.api_keys:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_hhh(o1.api_key, o1.min_version, o1.max_version)
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ApiVersionsResponse v{version}: {error}") from error


class ApiVersion(Message):
    __slots__ = (
        "api_key",
        "min_version",
        "max_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags = unknown_tags


class SupportedFeatureKey(Message):
    __slots__ = (
        "name",
        "min_version",
        "max_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tags = unknown_tags


class FinalizedFeatureKey(Message):
    __slots__ = (
        "name",
        "max_version_level",
        "min_version_level",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        self.unknown_tags = unknown_tags


def _tags_ApiVersionsResponse(o: ApiVersionsResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("supported_features", n, len(buf) - pos)
                o.supported_features = a = []
                for _ in range(n):
                    x, pos = _read_SupportedFeatureKey(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("supported_features")
        elif tag == 1:
            (o.finalized_features_epoch,) = _u_q(buf, pos)
            pos += 8
        elif tag == 2:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("finalized_features", n, len(buf) - pos)
                o.finalized_features = a = []
                for _ in range(n):
                    x, pos = _read_FinalizedFeatureKey(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("finalized_features")
        elif tag == 3:
            o.zk_migration_ready = buf[pos] != 0
            pos += 1
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_ApiVersionsResponse(o: ApiVersionsResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if len(o.supported_features) != 0:
        w = bytearray()
        n = len(o.supported_features) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.supported_features:
            _write_SupportedFeatureKey(x, w, version)
        known[0] = bytes(w)
    if o.finalized_features_epoch != -1:
        known[1] = _p_q(o.finalized_features_epoch)
    if len(o.finalized_features) != 0:
        w = bytearray()
        n = len(o.finalized_features) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.finalized_features:
            _write_FinalizedFeatureKey(x, w, version)
        known[2] = bytes(w)
    if o.zk_migration_ready:
        known[3] = _p_o(o.zk_migration_ready)
    put_tags(tail, known, o.unknown_tags)


def _read_SupportedFeatureKey(buf: bytes | memoryview, pos: int, version: int) -> tuple[SupportedFeatureKey, int]:
    o = _new(SupportedFeatureKey)
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
    o.min_version, o.max_version, n = _u_hhB(buf, pos)
    pos += 5
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_SupportedFeatureKey(o: SupportedFeatureKey, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_hh(o.min_version, o.max_version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_FinalizedFeatureKey(buf: bytes | memoryview, pos: int, version: int) -> tuple[FinalizedFeatureKey, int]:
    o = _new(FinalizedFeatureKey)
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
    o.max_version_level, o.min_version_level, n = _u_hhB(buf, pos)
    pos += 5
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_FinalizedFeatureKey(o: FinalizedFeatureKey, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_hh(o.max_version_level, o.min_version_level)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
