"""ConsumerGroupMemberMetadataValue (value 5, versions 0-0).

Generated from schemas/group_coordinator/consumer_group_member_metadata.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_p_i = Struct(">i").pack


class ConsumerGroupMemberMetadataValue(Message):
    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
        "classic_member_metadata",
        "unknown_tags",
    )

    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = ClassicMemberMetadata() if classic_member_metadata is FRESH else classic_member_metadata
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ConsumerGroupMemberMetadataValue", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.instance_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.instance_id = None
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
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.subscribed_topic_regex = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.subscribed_topic_regex = None
            o.rebalance_timeout_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.server_assignor = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.server_assignor = None
            n = buf[pos]
            pos += 1
            o.classic_member_metadata = ClassicMemberMetadata()
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_ConsumerGroupMemberMetadataValue(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerGroupMemberMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerGroupMemberMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ConsumerGroupMemberMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.instance_id is None:
                w.append(0)
            else:
                s = o.instance_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
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
            if o.subscribed_topic_regex is None:
                w.append(0)
            else:
                s = o.subscribed_topic_regex.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            w += _p_i(o.rebalance_timeout_ms)
            if o.server_assignor is None:
                w.append(0)
            else:
                s = o.server_assignor.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.classic_member_metadata != ClassicMemberMetadata() or o.unknown_tags:
                _put_tags_ConsumerGroupMemberMetadataValue(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerGroupMemberMetadataValue v{version}: {error}") from error


class ClassicMemberMetadata(Message):
    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is FRESH else supported_protocols
        self.unknown_tags = unknown_tags


class ClassicProtocol(Message):
    __slots__ = (
        "name",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags = unknown_tags


def _tags_ConsumerGroupMemberMetadataValue(o: ConsumerGroupMemberMetadataValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            n, pos = read_uvarint(buf, pos)
            if n <= 0:
                o.classic_member_metadata = None
            else:
                o.classic_member_metadata, pos = _read_ClassicMemberMetadata(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_ConsumerGroupMemberMetadataValue(o: ConsumerGroupMemberMetadataValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.classic_member_metadata != ClassicMemberMetadata():
        w = bytearray()
        if o.classic_member_metadata is None:
            w.append(0)
        else:
            w.append(1)
            _write_ClassicMemberMetadata(o.classic_member_metadata, w, version)
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_ClassicMemberMetadata(buf: bytes | memoryview, pos: int, version: int) -> tuple[ClassicMemberMetadata, int]:
    o = _new(ClassicMemberMetadata)
    o.session_timeout_ms, n = _u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("supported_protocols", n, len(buf) - pos)
        o.supported_protocols = a = []
        for _ in range(n):
            o1 = _new(ClassicProtocol)
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o1.metadata = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("metadata")
            n = buf[pos]
            pos += 1
            if n == 0:
                o1.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            a.append(o1)
    else:
        raise refuse_null("supported_protocols")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_ClassicMemberMetadata(o: ClassicMemberMetadata, w: bytearray, version: int) -> None:
    w += _p_i(o.session_timeout_ms)
    n = len(o.supported_protocols) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for o1 in o.supported_protocols:
        s = o1.name.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o1.metadata) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += o1.metadata
        if o1.unknown_tags:
            put_tags(w, {}, o1.unknown_tags)
        else:
            w.append(0)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
