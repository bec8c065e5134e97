"""StreamsGroupTopologyDescriptionUpdateResponse (response 93, versions 0-0).

Generated from schemas/api/streams_group_topology_description_update.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_ihB = Struct(">ihB").unpack_from
_p_ih = Struct(">ih").pack


class StreamsGroupTopologyDescriptionUpdateResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    API_KEY = 93
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
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("StreamsGroupTopologyDescriptionUpdateResponse", version)
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
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupTopologyDescriptionUpdateResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupTopologyDescriptionUpdateResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"StreamsGroupTopologyDescriptionUpdateResponse has no version {version}")
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
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupTopologyDescriptionUpdateResponse v{version}: {error}") from error
