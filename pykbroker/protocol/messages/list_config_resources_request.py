"""ListConfigResourcesRequest (request 74, versions 0-1).

Generated from schemas/api/list_config_resources.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__


class ListConfigResourcesRequest(Message):
    __slots__ = (
        "resource_types",
        "unknown_tags",
    )

    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        resource_types: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_types = [] if resource_types is FRESH else resource_types
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("ListConfigResourcesRequest", version)
        o = _new(cls)
        try:
            if version >= 1:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n > len(buf) - pos or n > most:
                        raise refuse_count("resource_types", n, len(buf) - pos)
                    o.resource_types = list(unpack_from(f">{n}b", buf, pos))
                    pos += n
                else:
                    raise refuse_null("resource_types")
            else:
                o.resource_types = []
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ListConfigResourcesRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ListConfigResourcesRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"ListConfigResourcesRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                n = len(o.resource_types) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += pack(f">{len(o.resource_types)}b", *o.resource_types)
            elif len(o.resource_types) != 0:
                raise refuse_field("resource_types", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ListConfigResourcesRequest v{version}: {error}") from error
