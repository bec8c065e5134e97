"""ShareGroupMemberMetadataValue (value 10, versions 0-0).

Generated from schemas/group_coordinator/share_group_member_metadata.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__


class ShareGroupMemberMetadataValue(Message):
    __slots__ = (
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "unknown_tags",
    )

    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ShareGroupMemberMetadataValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.rack_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.rack_id = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.client_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("client_id")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.client_host = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("client_host")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n > len(buf) - pos or n > 1000000:
                    raise refuse_count("subscribed_topic_names", n, len(buf) - pos)
                o.subscribed_topic_names = a = []
                for _ in range(n):
                    m = buf[pos]
                    pos += 1
                    if m > 127:
                        m, pos = read_string_length(buf, pos - 1)
                    if m <= 0:
                        raise refuse_null("subscribed_topic_names element")
                    e = pos + m - 1
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("subscribed_topic_names")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareGroupMemberMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareGroupMemberMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ShareGroupMemberMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.rack_id is None:
                w.append(0)
            else:
                s = o.rack_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            s = o.client_id.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            s = o.client_host.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            n = len(o.subscribed_topic_names) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.subscribed_topic_names:
                s = x.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareGroupMemberMetadataValue v{version}: {error}") from error
