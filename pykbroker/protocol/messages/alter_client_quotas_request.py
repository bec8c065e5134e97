"""AlterClientQuotasRequest (request 49, versions 0-1).

Generated from schemas/api/alter_client_quotas.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_oB = Struct(">?B").unpack_from
_u_do = Struct(">d?").unpack_from
_u_doB = Struct(">d?B").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_o = Struct(">?").pack
_p_do = Struct(">d?").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class AlterClientQuotasRequest(Message):
    __slots__ = (
        "entries",
        "validate_only",
        "unknown_tags",
    )

    API_KEY = 49
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        entries: list[EntryData] = FRESH,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entries = [] if entries is FRESH else entries
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("AlterClientQuotasRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 1:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > most:
                        raise refuse_count("entries", n, len(buf) - pos)
                    o.entries = a = []
                    for _ in range(n):
                        o1 = _new(EntryData)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 3 > len(buf) - pos or n > most:
                                raise refuse_count("entity", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("entity")
                            o1.entity = a1 = []
                            for _ in range(n):
                                o2 = _new(EntityData)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.entity_type = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("entity_type")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.entity_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.entity_name = None
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("entity")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 11 > len(buf) - pos or n > most:
                                raise refuse_count("ops", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("ops")
                            o1.ops = a1 = []
                            for _ in range(n):
                                o2 = _new(OpData)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.key = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("key")
                                o2.value, o2.remove, n = _u_doB(buf, pos)
                                pos += 10
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("ops")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("entries")
                o.validate_only, n = _u_oB(buf, pos)
                pos += 2
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 8 > len(buf) - pos or n > most:
                        raise refuse_count("entries", n, len(buf) - pos)
                    o.entries = a = []
                    for _ in range(n):
                        o1 = _new(EntryData)
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("entity", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("entity")
                            o1.entity = a1 = []
                            for _ in range(n):
                                o2 = _new(EntityData)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.entity_type = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("entity_type")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.entity_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.entity_name = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("entity")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 11 > len(buf) - pos or n > most:
                                raise refuse_count("ops", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("ops")
                            o1.ops = a1 = []
                            for _ in range(n):
                                o2 = _new(OpData)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.key = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("key")
                                o2.value, o2.remove = _u_do(buf, pos)
                                pos += 9
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("ops")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("entries")
                o.validate_only = buf[pos] != 0
                pos += 1
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterClientQuotasRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterClientQuotasRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"AlterClientQuotasRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                n = len(o.entries) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.entries:
                    n = len(o1.entity) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.entity:
                        s = o2.entity_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o2.entity_name is None:
                            w.append(0)
                        else:
                            s = o2.entity_name.encode()
                            n = len(s) + 1
                            if n < 128:
                                w.append(n)
                            else:
                                put_string_length(w, n)
                            w += s
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    n = len(o1.ops) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.ops:
                        s = o2.key.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_do(o2.value, o2.remove)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                w += _p_o(o.validate_only)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.entries))
                for o1 in o.entries:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    w += _p_i(len(o1.entity))
                    for o2 in o1.entity:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.entity_type.encode()
                        w += _p_h(len(s))
                        w += s
                        if o2.entity_name is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.entity_name.encode()
                            w += _p_h(len(s))
                            w += s
                    w += _p_i(len(o1.ops))
                    for o2 in o1.ops:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.key.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_do(o2.value, o2.remove)
                w += _p_o(o.validate_only)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AlterClientQuotasRequest v{version}: {error}") from error


class EntryData(Message):
    __slots__ = (
        "entity",
        "ops",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        entity: list[EntityData] = FRESH,
        ops: list[OpData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.entity = [] if entity is FRESH else entity
        self.ops = [] if ops is FRESH else ops
        self.unknown_tags = unknown_tags


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


class OpData(Message):
    __slots__ = (
        "key",
        "value",
        "remove",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tags = unknown_tags
