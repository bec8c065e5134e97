"""DeleteTopicsResponse (response 20, versions 1-6).

Generated from schemas/api/delete_topics.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
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
_u_u = Struct(">16s").unpack_from
_u_h = Struct(">h").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_u = Struct(">16s").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack


class DeleteTopicsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tags",
    )

    API_KEY = 20
    MIN_VERSION = 1
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is FRESH else responses
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 6:
            raise refuse_version("DeleteTopicsResponse", version)
        o = _new(cls)
        try:
            if version >= 4:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 4 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(DeletableTopicResult)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        elif version >= 6:
                            o1.name = None
                        else:
                            raise refuse_null("name")
                        if version >= 6:
                            (o1.topic_id,) = _u_u(buf, pos)
                            pos += 16
                        else:
                            o1.topic_id = ZERO_UUID
                        (o1.error_code,) = _u_h(buf, pos)
                        pos += 2
                        if version >= 5:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.error_message = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.error_message = None
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
                    raise refuse_null("responses")
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
                    if n * 4 > len(buf) - pos or n > 1000000:
                        raise refuse_count("responses", n, len(buf) - pos)
                    o.responses = a = []
                    for _ in range(n):
                        o1 = _new(DeletableTopicResult)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        (o1.error_code,) = _u_h(buf, pos)
                        pos += 2
                        o1.topic_id = ZERO_UUID
                        o1.error_message = None
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("responses")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteTopicsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteTopicsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 6:
            raise EncodeError(f"DeleteTopicsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                w += _p_i(o.throttle_time_ms)
                n = len(o.responses) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.responses:
                    if o1.name is None:
                        if not version >= 6:
                            raise EncodeError("name is null")
                        w.append(0)
                    else:
                        s = o1.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 6:
                        w += _p_u(o1.topic_id)
                    w += _p_h(o1.error_code)
                    if version >= 5:
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
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ii(o.throttle_time_ms, len(o.responses))
                for o1 in o.responses:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_h(o1.error_code)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteTopicsResponse v{version}: {error}") from error


class DeletableTopicResult(Message):
    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
