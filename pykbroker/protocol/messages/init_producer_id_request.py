"""InitProducerIdRequest (request 22, versions 0-6).

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
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_oo = Struct(">??").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_qh = Struct(">qh").unpack_from
_p_oo = Struct(">??").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_qh = Struct(">qh").pack


class InitProducerIdRequest(Message):
    __slots__ = (
        "transactional_id",
        "transaction_timeout_ms",
        "producer_id",
        "producer_epoch",
        "enable2_pc",
        "keep_prepared_txn",
        "unknown_tags",
    )

    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 6
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 6:
            raise refuse_version("InitProducerIdRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.transactional_id = None
                (o.transaction_timeout_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 3:
                    o.producer_id, o.producer_epoch = _u_qh(buf, pos)
                    pos += 10
                else:
                    o.producer_id = -1
                    o.producer_epoch = -1
                if version >= 6:
                    o.enable2_pc, o.keep_prepared_txn = _u_oo(buf, pos)
                    pos += 2
                else:
                    o.enable2_pc = False
                    o.keep_prepared_txn = False
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.transactional_id = None
                (o.transaction_timeout_ms,) = _u_i(buf, pos)
                pos += 4
                o.producer_id = -1
                o.producer_epoch = -1
                o.enable2_pc = False
                o.keep_prepared_txn = False
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"InitProducerIdRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"InitProducerIdRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 6:
            raise EncodeError(f"InitProducerIdRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                if o.transactional_id is None:
                    w.append(0)
                else:
                    s = o.transactional_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_i(o.transaction_timeout_ms)
                if version >= 3:
                    w += _p_qh(o.producer_id, o.producer_epoch)
                elif o.producer_id != -1:
                    raise refuse_field("producer_id", version)
                elif o.producer_epoch != -1:
                    raise refuse_field("producer_epoch", version)
                if version >= 6:
                    w += _p_oo(o.enable2_pc, o.keep_prepared_txn)
                elif o.enable2_pc:
                    raise refuse_field("enable2_pc", version)
                elif o.keep_prepared_txn:
                    raise refuse_field("keep_prepared_txn", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.producer_id != -1:
                    raise refuse_field("producer_id", version)
                if o.producer_epoch != -1:
                    raise refuse_field("producer_epoch", version)
                if o.enable2_pc:
                    raise refuse_field("enable2_pc", version)
                if o.keep_prepared_txn:
                    raise refuse_field("keep_prepared_txn", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if o.transactional_id is None:
                    w += b"\xff\xff"
                else:
                    s = o.transactional_id.encode()
                    w += _p_h(len(s))
                    w += s
                w += _p_i(o.transaction_timeout_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"InitProducerIdRequest v{version}: {error}") from error
