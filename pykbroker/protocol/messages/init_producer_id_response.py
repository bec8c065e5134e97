"""InitProducerIdResponse (response 22, versions 0-6).

Generated from schemas/api/init_producer_id.txt by pykbroker.protocol.generate: do not edit.
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
_u_ihqh = Struct(">ihqh").unpack_from
_u_qh = Struct(">qh").unpack_from
_p_ihqh = Struct(">ihqh").pack
_p_qh = Struct(">qh").pack


class InitProducerIdResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "ongoing_txn_producer_id",
        "ongoing_txn_producer_epoch",
        "unknown_tags",
    )

    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 6
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("InitProducerIdResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = _u_ihqh(buf, pos)
                pos += 16
                if version >= 6:
                    o.ongoing_txn_producer_id, o.ongoing_txn_producer_epoch = _u_qh(buf, pos)
                    pos += 10
                else:
                    o.ongoing_txn_producer_id = -1
                    o.ongoing_txn_producer_epoch = -1
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = _u_ihqh(buf, pos)
                pos += 16
                o.ongoing_txn_producer_id = -1
                o.ongoing_txn_producer_epoch = -1
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"InitProducerIdResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"InitProducerIdResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"InitProducerIdResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
                if version >= 6:
                    w += _p_qh(o.ongoing_txn_producer_id, o.ongoing_txn_producer_epoch)
                elif o.ongoing_txn_producer_id != -1:
                    raise refuse_field("ongoing_txn_producer_id", version)
                elif o.ongoing_txn_producer_epoch != -1:
                    raise refuse_field("ongoing_txn_producer_epoch", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.ongoing_txn_producer_id != -1:
                    raise refuse_field("ongoing_txn_producer_id", version)
                if o.ongoing_txn_producer_epoch != -1:
                    raise refuse_field("ongoing_txn_producer_epoch", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"InitProducerIdResponse v{version}: {error}") from error
