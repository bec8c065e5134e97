"""EnvelopeResponse (response 58, versions 0-0).

Generated from schemas/api/envelope.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail, part_size, put_part
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hB = Struct(">hB").unpack_from
_p_h = Struct(">h").pack


class EnvelopeResponse(Message):
    __slots__ = (
        "response_data",
        "error_code",
        "unknown_tags",
    )

    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        response_data: bytes | memoryview | None = None,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("EnvelopeResponse", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.response_data = bytes(buf[pos:e])
                pos = e
            else:
                o.response_data = None
            o.error_code, n = _u_hB(buf, pos)
            pos += 3
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EnvelopeResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EnvelopeResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"EnvelopeResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.response_data is None:
                w.append(0)
            else:
                size = part_size(o.response_data)
                n = size + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w = put_part(out, w, o.response_data, size)
            w += _p_h(o.error_code)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EnvelopeResponse v{version}: {error}") from error
