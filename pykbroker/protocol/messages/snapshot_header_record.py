"""SnapshotHeaderRecord (data, versions 0-0).

Generated from schemas/control/snapshot_header_record.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hqB = Struct(">hqB").unpack_from
_p_hq = Struct(">hq").pack


class SnapshotHeaderRecord(Message):
    __slots__ = (
        "version",
        "last_contained_log_timestamp",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("SnapshotHeaderRecord", version)
        o = _new(cls)
        try:
            o.version, o.last_contained_log_timestamp, n = _u_hqB(buf, pos)
            pos += 11
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"SnapshotHeaderRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"SnapshotHeaderRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"SnapshotHeaderRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_hq(o.version, o.last_contained_log_timestamp)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"SnapshotHeaderRecord v{version}: {error}") from error
