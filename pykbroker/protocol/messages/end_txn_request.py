"""EndTxnRequest (request 26, versions 0-5).

Generated from schemas/api/end_txn.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_qho = Struct(">qh?").unpack_from
_u_qhoB = Struct(">qh?B").unpack_from
_p_h = Struct(">h").pack
_p_qho = Struct(">qh?").pack


class EndTxnRequest(Message):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "committed",
        "unknown_tags",
    )

    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("EndTxnRequest", version)
        o = _new(cls)
        try:
            if version >= 3:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("transactional_id")
                o.producer_id, o.producer_epoch, o.committed, n = _u_qhoB(buf, pos)
                pos += 12
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
                    raise refuse_null("transactional_id")
                o.producer_id, o.producer_epoch, o.committed = _u_qho(buf, pos)
                pos += 11
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EndTxnRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EndTxnRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"EndTxnRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                s = o.transactional_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_qho(o.producer_id, o.producer_epoch, o.committed)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.transactional_id.encode()
                w += _p_h(len(s))
                w += s
                w += _p_qho(o.producer_id, o.producer_epoch, o.committed)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EndTxnRequest v{version}: {error}") from error
