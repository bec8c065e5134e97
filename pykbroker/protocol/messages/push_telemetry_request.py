"""PushTelemetryRequest (request 72, versions 0-0).

Generated from schemas/api/push_telemetry.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail, part_size, put_part
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    ZERO_UUID,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uiobB = Struct(">16si?bB").unpack_from
_p_uiob = Struct(">16si?b").pack


class PushTelemetryRequest(Message):
    __slots__ = (
        "client_instance_id",
        "subscription_id",
        "terminating",
        "compression_type",
        "metrics",
        "unknown_tags",
    )

    API_KEY = 72
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes | memoryview = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("PushTelemetryRequest", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            o.client_instance_id, o.subscription_id, o.terminating, o.compression_type, n = _u_uiobB(buf, pos)
            pos += 23
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.metrics = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("metrics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"PushTelemetryRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"PushTelemetryRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"PushTelemetryRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_uiob(o.client_instance_id, o.subscription_id, o.terminating, o.compression_type)
            if o.metrics is None:
                raise EncodeError("metrics is null")
            else:
                size = part_size(o.metrics)
                n = size + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w = put_part(out, w, o.metrics, size)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"PushTelemetryRequest v{version}: {error}") from error
