"""AllocateProducerIdsRequest (request 67, versions 0-0).

Generated from schemas/api/allocate_producer_ids.txt by pykbroker.protocol.generate: do not edit.
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


class AllocateProducerIdsRequest(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )

    API_KEY = 67
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AllocateProducerIdsRequest", version)
        o = _new(cls)
        try:
            o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
            pos += 13
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AllocateProducerIdsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AllocateProducerIdsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AllocateProducerIdsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iq(o.broker_id, o.broker_epoch)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AllocateProducerIdsRequest v{version}: {error}") from error
