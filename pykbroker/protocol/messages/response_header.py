"""ResponseHeader (header, versions 0-1).

Generated from schemas/header/headers.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_i = Struct(">i").pack


class ResponseHeader(Message):
    __slots__ = (
        "correlation_id",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        correlation_id: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.correlation_id = correlation_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("ResponseHeader", version)
        o = _new(cls)
        try:
            if version >= 1:
                o.correlation_id, n = _u_iB(buf, pos)
                pos += 5
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (o.correlation_id,) = _u_i(buf, pos)
                pos += 4
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ResponseHeader v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ResponseHeader v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"ResponseHeader has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                w += _p_i(o.correlation_id)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(o.correlation_id)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ResponseHeader v{version}: {error}") from error
