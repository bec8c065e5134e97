"""DescribeClusterResponse (response 60, versions 0-2).

Generated from schemas/api/describe_cluster.txt by pykbroker.protocol.generate: do not edit.
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
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class DescribeClusterResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "endpoint_type",
        "cluster_id",
        "controller_id",
        "brokers",
        "cluster_authorized_operations",
        "unknown_tags",
    )

    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = FRESH,
        cluster_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is FRESH else brokers
        self.cluster_authorized_operations = cluster_authorized_operations
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("DescribeClusterResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.error_message = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.error_message = None
            if version >= 1:
                (o.endpoint_type,) = _u_b(buf, pos)
                pos += 1
            else:
                o.endpoint_type = 1
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.cluster_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("cluster_id")
            o.controller_id, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 11 > len(buf) - pos or n > 1000000:
                    raise refuse_count("brokers", n, len(buf) - pos)
                o.brokers = a = []
                for _ in range(n):
                    o1 = _new(DescribeClusterBroker)
                    o1.broker_id, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.host = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("host")
                    o1.port, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.rack = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o1.rack = None
                    if version >= 2:
                        o1.is_fenced = buf[pos] != 0
                        pos += 1
                    else:
                        o1.is_fenced = False
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("brokers")
            o.cluster_authorized_operations, n = _u_iB(buf, pos)
            pos += 5
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeClusterResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeClusterResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"DescribeClusterResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
            if o.error_message is None:
                w.append(0)
            else:
                s = o.error_message.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if version >= 1:
                w += _p_b(o.endpoint_type)
            elif o.endpoint_type != 1:
                raise refuse_field("endpoint_type", version)
            s = o.cluster_id.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_i(o.controller_id)
            n = len(o.brokers) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.brokers:
                s = o1.host.encode()
                w += _p_i(o1.broker_id)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_i(o1.port)
                if o1.rack is None:
                    w.append(0)
                else:
                    s = o1.rack.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if version >= 2:
                    w += _p_o(o1.is_fenced)
                elif o1.is_fenced:
                    raise refuse_field("is_fenced", version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            w += _p_i(o.cluster_authorized_operations)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeClusterResponse v{version}: {error}") from error


class DescribeClusterBroker(Message):
    __slots__ = (
        "broker_id",
        "host",
        "port",
        "rack",
        "is_fenced",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced
        self.unknown_tags = unknown_tags
