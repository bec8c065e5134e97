"""AddOffsetsToTxnResponse (response 25, versions 0-4).

Generated from schemas/api/add_offsets_to_txn.txt by pykbroker.protocol.generate: do not edit.
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
_u_ih = Struct(">ih").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_ih = Struct(">ih").pack


class AddOffsetsToTxnResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_tags",
    )

    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("AddOffsetsToTxnResponse", version)
        o = _new(cls)
        try:
            if version >= 3:
                o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, o.error_code = _u_ih(buf, pos)
                pos += 6
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AddOffsetsToTxnResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AddOffsetsToTxnResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"AddOffsetsToTxnResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                w += _p_ih(o.throttle_time_ms, o.error_code)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ih(o.throttle_time_ms, o.error_code)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AddOffsetsToTxnResponse v{version}: {error}") from error
