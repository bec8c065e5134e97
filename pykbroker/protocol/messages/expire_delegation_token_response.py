"""ExpireDelegationTokenResponse (response 40, versions 1-2).

Generated from schemas/api/expire_delegation_token.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hqi = Struct(">hqi").unpack_from
_u_hqiB = Struct(">hqiB").unpack_from
_p_hqi = Struct(">hqi").pack


class ExpireDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
        "unknown_tags",
    )

    API_KEY = 40
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("ExpireDelegationTokenResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms, n = _u_hqiB(buf, pos)
                pos += 15
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms = _u_hqi(buf, pos)
                pos += 14
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ExpireDelegationTokenResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ExpireDelegationTokenResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"ExpireDelegationTokenResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_hqi(o.error_code, o.expiry_timestamp_ms, o.throttle_time_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ExpireDelegationTokenResponse v{version}: {error}") from error
