"""FindCoordinatorResponse (response 10, versions 0-6).

Generated from schemas/api/find_coordinator.txt by pykbroker.protocol.generate: do not edit.
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
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class FindCoordinatorResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "node_id",
        "host",
        "port",
        "coordinators",
        "unknown_tags",
    )

    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is FRESH else coordinators
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("FindCoordinatorResponse", version)
        o = _new(cls)
        try:
            if version >= 3:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version <= 3:
                    o.error_code, n = _u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.error_message = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.error_message = None
                    o.node_id, n = _u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.host = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("host")
                    (o.port,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.error_code = 0
                    o.error_message = ""
                    o.node_id = 0
                    o.host = ""
                    o.port = 0
                if version >= 4:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 14 > len(buf) - pos or n > 1000000:
                            raise refuse_count("coordinators", n, len(buf) - pos)
                        o.coordinators = a = []
                        for _ in range(n):
                            o1 = _new(Coordinator)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.key = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("key")
                            o1.node_id, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.host = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("host")
                            o1.port, o1.error_code, n = _u_ihB(buf, pos)
                            pos += 7
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.error_message = None
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        raise refuse_null("coordinators")
                else:
                    o.coordinators = []
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 1:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                (o.error_code,) = _u_h(buf, pos)
                pos += 2
                if version >= 1:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.error_message = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.error_message = None
                else:
                    o.error_message = ""
                o.node_id, n = _u_ih(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.host = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("host")
                (o.port,) = _u_i(buf, pos)
                pos += 4
                o.coordinators = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"FindCoordinatorResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"FindCoordinatorResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"FindCoordinatorResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                w += _p_i(o.throttle_time_ms)
                if version <= 3:
                    w += _p_h(o.error_code)
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
                    s = o.host.encode()
                    w += _p_i(o.node_id)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_i(o.port)
                elif o.error_code != 0:
                    raise refuse_field("error_code", version)
                elif o.node_id != 0:
                    raise refuse_field("node_id", version)
                elif o.host != "":
                    raise refuse_field("host", version)
                elif o.port != 0:
                    raise refuse_field("port", version)
                if version >= 4:
                    n = len(o.coordinators) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.coordinators:
                        s = o1.key.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o1.host.encode()
                        w += _p_i(o1.node_id)
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_ih(o1.port, o1.error_code)
                        if o1.error_message is None:
                            w.append(0)
                        else:
                            s = o1.error_message.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.coordinators) != 0:
                    raise refuse_field("coordinators", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.coordinators) != 0:
                    raise refuse_field("coordinators", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 1:
                    w += _p_i(o.throttle_time_ms)
                w += _p_h(o.error_code)
                if version >= 1:
                    if o.error_message is None:
                        w += b"\xff\xff"
                    else:
                        s = o.error_message.encode()
                        w += _p_h(len(s))
                        w += s
                s = o.host.encode()
                w += _p_ih(o.node_id, len(s))
                w += s
                w += _p_i(o.port)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"FindCoordinatorResponse v{version}: {error}") from error


class Coordinator(Message):
    __slots__ = (
        "key",
        "node_id",
        "host",
        "port",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
