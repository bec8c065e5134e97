"""EnvelopeRequest (request 58, versions 0-0).

Generated from schemas/api/envelope.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail, part_size, put_part
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__


class EnvelopeRequest(Message):
    __slots__ = (
        "request_data",
        "request_principal",
        "client_host_address",
        "unknown_tags",
    )

    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        request_data: bytes | memoryview = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("EnvelopeRequest", version)
        if type(buf) is not memoryview:
            buf = memoryview(buf)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.request_data = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("request_data")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.request_principal = bytes(buf[pos:e])
                pos = e
            else:
                o.request_principal = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.client_host_address = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("client_host_address")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"EnvelopeRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"EnvelopeRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"EnvelopeRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.request_data is None:
                raise EncodeError("request_data is null")
            else:
                size = part_size(o.request_data)
                n = size + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w = put_part(out, w, o.request_data, size)
            if o.request_principal is None:
                w.append(0)
            else:
                n = len(o.request_principal) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.request_principal
            n = len(o.client_host_address) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += o.client_host_address
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"EnvelopeRequest v{version}: {error}") from error
