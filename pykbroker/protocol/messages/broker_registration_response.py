"""BrokerRegistrationResponse (response 62, versions 0-4).

Generated from schemas/api/broker_registration.txt by pykbroker.protocol.generate: do not edit.
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
_u_ihqB = Struct(">ihqB").unpack_from
_p_ihq = Struct(">ihq").pack


class BrokerRegistrationResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "broker_epoch",
        "unknown_tags",
    )

    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("BrokerRegistrationResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, o.broker_epoch, n = _u_ihqB(buf, pos)
            pos += 15
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BrokerRegistrationResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BrokerRegistrationResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"BrokerRegistrationResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ihq(o.throttle_time_ms, o.error_code, o.broker_epoch)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BrokerRegistrationResponse v{version}: {error}") from error
