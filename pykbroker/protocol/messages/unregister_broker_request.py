"""UnregisterBrokerRequest (request 64, versions 0-0).

Generated from schemas/api/unregister_broker.txt by pykbroker.protocol.generate: do not edit.
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
_u_iB = Struct(">iB").unpack_from
_p_i = Struct(">i").pack


class UnregisterBrokerRequest(Message):
    __slots__ = (
        "broker_id",
        "unknown_tags",
    )

    API_KEY = 64
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("UnregisterBrokerRequest", version)
        o = _new(cls)
        try:
            o.broker_id, n = _u_iB(buf, pos)
            pos += 5
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UnregisterBrokerRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UnregisterBrokerRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"UnregisterBrokerRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.broker_id)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UnregisterBrokerRequest v{version}: {error}") from error
