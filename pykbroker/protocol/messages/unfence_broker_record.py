"""UnfenceBrokerRecord (record 8, versions 0-0).

Generated from schemas/metadata/unfence_broker_record.txt by pykbroker.protocol.generate: do not edit.
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
_u_iqB = Struct(">iqB").unpack_from
_p_iq = Struct(">iq").pack


class UnfenceBrokerRecord(Message):
    __slots__ = (
        "id",
        "epoch",
        "unknown_tags",
    )

    API_KEY = 8
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.id = id
        self.epoch = epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("UnfenceBrokerRecord", version)
        o = _new(cls)
        try:
            o.id, o.epoch, n = _u_iqB(buf, pos)
            pos += 13
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UnfenceBrokerRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UnfenceBrokerRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"UnfenceBrokerRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iq(o.id, o.epoch)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UnfenceBrokerRecord v{version}: {error}") from error
