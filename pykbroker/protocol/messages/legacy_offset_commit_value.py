"""LegacyOffsetCommitValue (value 0, versions 0-0).

Generated from schemas/group_coordinator/legacy_offset_commit.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_q = Struct(">q").unpack_from
_u_qh = Struct(">qh").unpack_from
_p_q = Struct(">q").pack
_p_qh = Struct(">qh").pack


class LegacyOffsetCommitValue(Message):
    __slots__ = (
        "offset",
        "metadata",
        "commit_timestamp",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("LegacyOffsetCommitValue", version)
        o = _new(cls)
        try:
            o.offset, n = _u_qh(buf, pos)
            pos += 10
            if n >= 0:
                e = pos + n
                o.metadata = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("metadata")
            (o.commit_timestamp,) = _u_q(buf, pos)
            pos += 8
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"LegacyOffsetCommitValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"LegacyOffsetCommitValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"LegacyOffsetCommitValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            s = o.metadata.encode()
            w += _p_qh(o.offset, len(s))
            w += s
            w += _p_q(o.commit_timestamp)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"LegacyOffsetCommitValue v{version}: {error}") from error
