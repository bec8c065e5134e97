"""UpdateFeaturesRequest (request 57, versions 0-2).

Generated from schemas/api/update_features.txt by pykbroker.protocol.generate: do not edit.
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
_u_b = Struct(">b").unpack_from
_u_h = Struct(">h").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class UpdateFeaturesRequest(Message):
    __slots__ = (
        "timeout_ms",
        "feature_updates",
        "validate_only",
        "unknown_tags",
    )

    API_KEY = 57
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = FRESH,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is FRESH else feature_updates
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("UpdateFeaturesRequest", version)
        o = _new(cls)
        try:
            o.timeout_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > most:
                    raise refuse_count("feature_updates", n, len(buf) - pos)
                o.feature_updates = a = []
                for _ in range(n):
                    o1 = _new(FeatureUpdateKey)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.feature = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("feature")
                    (o1.max_version_level,) = _u_h(buf, pos)
                    pos += 2
                    if version <= 0:
                        o1.allow_downgrade = buf[pos] != 0
                        pos += 1
                    else:
                        o1.allow_downgrade = False
                    if version >= 1:
                        (o1.upgrade_type,) = _u_b(buf, pos)
                        pos += 1
                    else:
                        o1.upgrade_type = 1
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("feature_updates")
            if version >= 1:
                o.validate_only = buf[pos] != 0
                pos += 1
            else:
                o.validate_only = False
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UpdateFeaturesRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UpdateFeaturesRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"UpdateFeaturesRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.timeout_ms)
            n = len(o.feature_updates) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.feature_updates:
                s = o1.feature.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_h(o1.max_version_level)
                if version <= 0:
                    w += _p_o(o1.allow_downgrade)
                elif o1.allow_downgrade:
                    raise refuse_field("allow_downgrade", version)
                if version >= 1:
                    w += _p_b(o1.upgrade_type)
                elif o1.upgrade_type != 1:
                    raise refuse_field("upgrade_type", version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if version >= 1:
                w += _p_o(o.validate_only)
            elif o.validate_only:
                raise refuse_field("validate_only", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UpdateFeaturesRequest v{version}: {error}") from error


class FeatureUpdateKey(Message):
    __slots__ = (
        "feature",
        "max_version_level",
        "allow_downgrade",
        "upgrade_type",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type
        self.unknown_tags = unknown_tags
