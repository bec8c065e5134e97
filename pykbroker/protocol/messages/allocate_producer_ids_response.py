"""AllocateProducerIdsResponse (response 67, versions 0-0).

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
_u_ihqiB = Struct(">ihqiB").unpack_from
_p_ihqi = Struct(">ihqi").pack


class AllocateProducerIdsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id_start",
        "producer_id_len",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AllocateProducerIdsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len, n = _u_ihqiB(buf, pos)
            pos += 19
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AllocateProducerIdsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AllocateProducerIdsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AllocateProducerIdsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ihqi(o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AllocateProducerIdsResponse v{version}: {error}") from error
