"""CreateTopicsResponse (response 19, versions 2-7).

Generated from schemas/api/create_topics.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_oboB = Struct(">?b?B").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_u = Struct(">16s").pack
_p_obo = Struct(">?b?").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack


class CreateTopicsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )

    API_KEY = 19
    MIN_VERSION = 2
    MAX_VERSION = 7
    LATEST_VERSION = 7
    FLEXIBLE_FROM = 5

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 2 <= version <= 7:
            raise refuse_version("CreateTopicsResponse", version)
        o = _new(cls)
        try:
            if version >= 5:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 12 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(CreatableTopicResult)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        if version >= 7:
                            (o1.topic_id,) = _u_u(buf, pos)
                            pos += 16
                        else:
                            o1.topic_id = ZERO_UUID
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
                        o1.num_partitions, o1.replication_factor, n = _u_ihB(buf, pos)
                        pos += 7
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 6 > len(buf) - pos or n > 1000000:
                                raise refuse_count("configs", n, len(buf) - pos)
                            o1.configs = a1 = []
                            for _ in range(n):
                                o2 = _new(CreatableTopicConfigs)
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
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.value = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    o2.value = None
                                o2.read_only, o2.config_source, o2.is_sensitive, n = _u_oboB(buf, pos)
                                pos += 4
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            o1.configs = None
                        n = buf[pos]
                        pos += 1
                        o1.topic_config_error_code = 0
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            pos = _tags_CreatableTopicResult(o1, buf, pos, version, n)
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, n = _u_ii(buf, pos)
                pos += 8
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        o1 = _new(CreatableTopicResult)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.error_message = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.error_message = None
                        o1.topic_id = ZERO_UUID
                        o1.topic_config_error_code = 0
                        o1.num_partitions = -1
                        o1.replication_factor = -1
                        o1.configs = []
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("topics")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"CreateTopicsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"CreateTopicsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 2 <= version <= 7:
            raise EncodeError(f"CreateTopicsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 5:
                w += _p_i(o.throttle_time_ms)
                n = len(o.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.topics:
                    s = o1.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if version >= 7:
                        w += _p_u(o1.topic_id)
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w.append(0)
                    else:
                        s = o1.error_message.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    w += _p_ih(o1.num_partitions, o1.replication_factor)
                    if o1.configs is None:
                        w.append(0)
                    else:
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
                            w += _p_obo(o2.read_only, o2.config_source, o2.is_sensitive)
                            if o2.unknown_tags:
                                put_tags(w, {}, o2.unknown_tags)
                            else:
                                w.append(0)
                    if o1.topic_config_error_code != 0 or o1.unknown_tags:
                        _put_tags_CreatableTopicResult(o1, w, version)
                    else:
                        w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ii(o.throttle_time_ms, len(o.topics))
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_h(len(s))
                    w += s
                    w += _p_h(o1.error_code)
                    if o1.error_message is None:
                        w += b"\xff\xff"
                    else:
                        s = o1.error_message.encode()
                        w += _p_h(len(s))
                        w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"CreateTopicsResponse v{version}: {error}") from error


class CreatableTopicResult(Message):
    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "topic_config_error_code",
        "num_partitions",
        "replication_factor",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is FRESH else configs
        self.unknown_tags = unknown_tags


class CreatableTopicConfigs(Message):
    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.unknown_tags = unknown_tags


def _tags_CreatableTopicResult(o: CreatableTopicResult, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.topic_config_error_code,) = _u_h(buf, pos)
            pos += 2
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_CreatableTopicResult(o: CreatableTopicResult, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.topic_config_error_code != 0:
        known[0] = _p_h(o.topic_config_error_code)
    put_tags(tail, known, o.unknown_tags)
