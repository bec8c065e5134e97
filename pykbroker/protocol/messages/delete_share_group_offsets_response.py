"""DeleteShareGroupOffsetsResponse (response 92, versions 0-0).

Generated from schemas/api/delete_share_group_offsets.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uhB = Struct(">16shB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_uh = Struct(">16sh").pack
_p_ih = Struct(">ih").pack


class DeleteShareGroupOffsetsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "responses",
        "unknown_tags",
    )

    API_KEY = 92
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is FRESH else responses
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DeleteShareGroupOffsetsResponse", version)
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 21 > len(buf) - pos or n > 1000000:
                    raise refuse_count("responses", n, len(buf) - pos)
                o.responses = a = []
                for _ in range(n):
                    o1 = _new(DeleteShareGroupOffsetsResponseTopic)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.topic_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("topic_name")
                    o1.topic_id, o1.error_code, n = _u_uhB(buf, pos)
                    pos += 19
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
                raise refuse_null("responses")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DeleteShareGroupOffsetsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DeleteShareGroupOffsetsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DeleteShareGroupOffsetsResponse has no version {version}")
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
            n = len(o.responses) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.responses:
                s = o1.topic_name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_uh(o1.topic_id, o1.error_code)
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
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DeleteShareGroupOffsetsResponse v{version}: {error}") from error


class DeleteShareGroupOffsetsResponseTopic(Message):
    __slots__ = (
        "topic_name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags
