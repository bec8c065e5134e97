"""StreamsGroupMetadataValue (value 17, versions 0-0).

Generated from schemas/group_coordinator/streams_group_metadata.txt by pykbroker.protocol.generate: do not edit.
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
_u_i = Struct(">i").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_i = Struct(">i").pack
_p_iq = Struct(">iq").pack


class StreamsGroupMetadataValue(Message):
    __slots__ = (
        "epoch",
        "metadata_hash",
        "validated_topology_epoch",
        "last_assignment_configs",
        "stored_description_topology_epoch",
        "failed_description_topology_epoch",
        "unknown_tags",
    )

    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = FRESH,
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = [] if last_assignment_configs is FRESH else last_assignment_configs
        self.stored_description_topology_epoch = stored_description_topology_epoch
        self.failed_description_topology_epoch = failed_description_topology_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("StreamsGroupMetadataValue", version)
        o = _new(cls)
        try:
            o.epoch, o.metadata_hash, n = _u_iqB(buf, pos)
            pos += 13
            o.validated_topology_epoch = -1
            o.last_assignment_configs = []
            o.stored_description_topology_epoch = -1
            o.failed_description_topology_epoch = -1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_StreamsGroupMetadataValue(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"StreamsGroupMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iq(o.epoch, o.metadata_hash)
            if o.validated_topology_epoch != -1 or (o.last_assignment_configs is None or len(o.last_assignment_configs) != 0) or o.stored_description_topology_epoch != -1 or o.failed_description_topology_epoch != -1 or o.unknown_tags:
                _put_tags_StreamsGroupMetadataValue(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupMetadataValue v{version}: {error}") from error


class LastAssignmentConfig(Message):
    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags = unknown_tags


def _tags_StreamsGroupMetadataValue(o: StreamsGroupMetadataValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.validated_topology_epoch,) = _u_i(buf, pos)
            pos += 4
        elif tag == 1:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("last_assignment_configs", n, len(buf) - pos)
                o.last_assignment_configs = a = []
                for _ in range(n):
                    x, pos = _read_LastAssignmentConfig(buf, pos, version)
                    a.append(x)
            else:
                o.last_assignment_configs = None
        elif tag == 2:
            (o.stored_description_topology_epoch,) = _u_i(buf, pos)
            pos += 4
        elif tag == 3:
            (o.failed_description_topology_epoch,) = _u_i(buf, pos)
            pos += 4
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_StreamsGroupMetadataValue(o: StreamsGroupMetadataValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.validated_topology_epoch != -1:
        known[0] = _p_i(o.validated_topology_epoch)
    if (o.last_assignment_configs is None or len(o.last_assignment_configs) != 0):
        w = bytearray()
        if o.last_assignment_configs is None:
            w.append(0)
        else:
            n = len(o.last_assignment_configs) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.last_assignment_configs:
                _write_LastAssignmentConfig(x, w, version)
        known[1] = bytes(w)
    if o.stored_description_topology_epoch != -1:
        known[2] = _p_i(o.stored_description_topology_epoch)
    if o.failed_description_topology_epoch != -1:
        known[3] = _p_i(o.failed_description_topology_epoch)
    put_tags(tail, known, o.unknown_tags)


def _read_LastAssignmentConfig(buf: bytes | memoryview, pos: int, version: int) -> tuple[LastAssignmentConfig, int]:
    o = _new(LastAssignmentConfig)
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.value = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("value")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_LastAssignmentConfig(o: LastAssignmentConfig, w: bytearray, version: int) -> None:
    s = o.key.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    s = o.value.encode()
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
