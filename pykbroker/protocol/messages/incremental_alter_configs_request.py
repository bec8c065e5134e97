"""IncrementalAlterConfigsRequest (request 44, versions 0-1).

Generated from schemas/api/incremental_alter_configs.txt by pykbroker.protocol.generate: do not edit.
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
_u_bB = Struct(">bB").unpack_from
_u_bh = Struct(">bh").unpack_from
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack
_p_bh = Struct(">bh").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class IncrementalAlterConfigsRequest(Message):
    __slots__ = (
        "resources",
        "validate_only",
        "unknown_tags",
    )

    API_KEY = 44
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        resources: list[AlterConfigsResource] = FRESH,
        validate_only: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resources = [] if resources is FRESH else resources
        self.validate_only = validate_only
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("IncrementalAlterConfigsRequest", version)
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
                    if n * 4 > len(buf) - pos or n > most:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(AlterConfigsResource)
                        o1.resource_type, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 4 > len(buf) - pos or n > most:
                                raise refuse_count("configs", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configs")
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(AlterableConfig)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                o2.config_operation, n = _u_bB(buf, pos)
                                pos += 2
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("resources")
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
                    if n * 7 > len(buf) - pos or n > most:
                        raise refuse_count("resources", n, len(buf) - pos)
                    o.resources = a = []
                    for _ in range(n):
                        o1 = _new(AlterConfigsResource)
                        o1.resource_type, n = _u_bh(buf, pos)
                        pos += 3
                        if n >= 0:
                            e = pos + n
                            o1.resource_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("resource_name")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 5 > len(buf) - pos or n > most:
                                raise refuse_count("configs", n, len(buf) - pos)
                            left -= n
                            if left < 0:
                                raise refuse_total("configs")
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(AlterableConfig)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("name")
                                o2.config_operation, n = _u_bh(buf, pos)
                                pos += 3
                                if n >= 0:
                                    e = pos + n
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("configs")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("resources")
                o.validate_only = buf[pos] != 0
                pos += 1
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"IncrementalAlterConfigsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"IncrementalAlterConfigsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"IncrementalAlterConfigsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                n = len(o.resources) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.resources:
                    s = o1.resource_name.encode()
                    w += _p_b(o1.resource_type)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.configs) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.configs:
                        s = o2.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_b(o2.config_operation)
                        if o2.value is None:
                            w.append(0)
                        else:
                            s = o2.value.encode()
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
                w += _p_i(len(o.resources))
                for o1 in o.resources:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.resource_name.encode()
                    w += _p_bh(o1.resource_type, len(s))
                    w += s
                    w += _p_i(len(o1.configs))
                    for o2 in o1.configs:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.name.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_b(o2.config_operation)
                        if o2.value is None:
                            w += b"\xff\xff"
                        else:
                            s = o2.value.encode()
                            w += _p_h(len(s))
                            w += s
                w += _p_o(o.validate_only)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"IncrementalAlterConfigsRequest v{version}: {error}") from error


class AlterConfigsResource(Message):
    __slots__ = (
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is FRESH else configs
        self.unknown_tags = unknown_tags


class AlterableConfig(Message):
    __slots__ = (
        "name",
        "config_operation",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value
        self.unknown_tags = unknown_tags
