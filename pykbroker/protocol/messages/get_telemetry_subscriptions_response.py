"""GetTelemetrySubscriptionsResponse (response 71, versions 0-0).

Generated from schemas/api/get_telemetry_subscriptions.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_ihuiB = Struct(">ih16siB").unpack_from
_u_iioB = Struct(">ii?B").unpack_from
_p_ihui = Struct(">ih16si").pack
_p_iio = Struct(">ii?").pack


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_instance_id",
        "subscription_id",
        "accepted_compression_types",
        "push_interval_ms",
        "telemetry_max_bytes",
        "delta_temporality",
        "requested_metrics",
        "unknown_tags",
    )

    API_KEY = 71
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = FRESH,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is FRESH else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is FRESH else requested_metrics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("GetTelemetrySubscriptionsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, o.client_instance_id, o.subscription_id, n = _u_ihuiB(buf, pos)
            pos += 27
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n > len(buf) - pos or n > 1000000:
                    raise refuse_count("accepted_compression_types", n, len(buf) - pos)
                o.accepted_compression_types = list(unpack_from(f">{n}b", buf, pos))
                pos += n
            else:
                raise refuse_null("accepted_compression_types")
            o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality, n = _u_iioB(buf, pos)
            pos += 10
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n > len(buf) - pos or n > 1000000:
                    raise refuse_count("requested_metrics", n, len(buf) - pos)
                o.requested_metrics = a = []
                for _ in range(n):
                    m = buf[pos]
                    pos += 1
                    if m > 127:
                        m, pos = read_string_length(buf, pos - 1)
                    if m <= 0:
                        raise refuse_null("requested_metrics element")
                    e = pos + m - 1
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("requested_metrics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"GetTelemetrySubscriptionsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"GetTelemetrySubscriptionsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"GetTelemetrySubscriptionsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ihui(o.throttle_time_ms, o.error_code, o.client_instance_id, o.subscription_id)
            n = len(o.accepted_compression_types) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += pack(f">{len(o.accepted_compression_types)}b", *o.accepted_compression_types)
            w += _p_iio(o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality)
            n = len(o.requested_metrics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.requested_metrics:
                s = x.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"GetTelemetrySubscriptionsResponse v{version}: {error}") from error
