"""ClientQuotaRecord (record 14, versions 0-0).

Generated from schemas/metadata/client_quota_record.txt by pykbroker.protocol.generate: do not edit.
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
_u_doB = Struct(">d?B").unpack_from
_p_do = Struct(">d?").pack


class ClientQuotaRecord(Message):
    __slots__ = (
        "entity",
        "key",
        "value",
        "remove",
        "unknown_tags",
    )

    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        entity: list[EntityData] = FRESH,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity = [] if entity is FRESH else entity
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ClientQuotaRecord", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("entity", n, len(buf) - pos)
                o.entity = a = []
                for _ in range(n):
                    o1 = _new(EntityData)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.entity_type = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("entity_type")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.entity_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o1.entity_name = None
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("entity")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.key = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("key")
            o.value, o.remove, n = _u_doB(buf, pos)
            pos += 10
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ClientQuotaRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ClientQuotaRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ClientQuotaRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.entity) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.entity:
                s = o1.entity_type.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if o1.entity_name is None:
                    w.append(0)
                else:
                    s = o1.entity_name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            s = o.key.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_do(o.value, o.remove)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ClientQuotaRecord v{version}: {error}") from error


class EntityData(Message):
    __slots__ = (
        "entity_type",
        "entity_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name
        self.unknown_tags = unknown_tags
