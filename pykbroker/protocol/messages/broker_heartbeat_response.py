"""BrokerHeartbeatResponse (response 63, versions 0-2).

Generated from schemas/api/broker_heartbeat.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_ihoooB = Struct(">ih???B").unpack_from
_p_ihooo = Struct(">ih???").pack


class BrokerHeartbeatResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "is_caught_up",
        "is_fenced",
        "should_shut_down",
        "unknown_tags",
    )

    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("BrokerHeartbeatResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, o.is_caught_up, o.is_fenced, o.should_shut_down, n = _u_ihoooB(buf, pos)
            pos += 10
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BrokerHeartbeatResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BrokerHeartbeatResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"BrokerHeartbeatResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ihooo(o.throttle_time_ms, o.error_code, o.is_caught_up, o.is_fenced, o.should_shut_down)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BrokerHeartbeatResponse v{version}: {error}") from error
