"""BrokerRegistrationChangeRecord (record 17, versions 0-3).

Generated from schemas/metadata/broker_registration_change_record.txt by pykbroker.protocol.generate: do not edit.
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
    put_tags,
    put_uuids,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tag,
    read_uuids,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_b = Struct(">b").pack
_p_iq = Struct(">iq").pack


class BrokerRegistrationChangeRecord(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )

    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[bytes] = FRESH,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is FRESH else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 3:
            raise refuse_version("BrokerRegistrationChangeRecord", version)
        o = _new(cls)
        try:
            o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
            pos += 13
            o.fenced = 0
            o.in_controlled_shutdown = 0
            o.log_dirs = []
            o.cordoned_log_dirs = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_BrokerRegistrationChangeRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BrokerRegistrationChangeRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BrokerRegistrationChangeRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 3:
            raise EncodeError(f"BrokerRegistrationChangeRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 1) and o.in_controlled_shutdown != 0:
                raise refuse_field("in_controlled_shutdown", version)
            if not (version >= 2) and len(o.log_dirs) != 0:
                raise refuse_field("log_dirs", version)
            if not (version >= 3) and o.cordoned_log_dirs is not None:
                raise refuse_field("cordoned_log_dirs", version)
            w += _p_iq(o.broker_id, o.broker_epoch)
            if o.fenced != 0 or o.in_controlled_shutdown != 0 or len(o.log_dirs) != 0 or o.cordoned_log_dirs is not None or o.unknown_tags:
                _put_tags_BrokerRegistrationChangeRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BrokerRegistrationChangeRecord v{version}: {error}") from error


def _tags_BrokerRegistrationChangeRecord(o: BrokerRegistrationChangeRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.fenced,) = _u_b(buf, pos)
            pos += 1
        elif tag == 1:
            if not version >= 1:
                raise DecodeError(f"tag 1 is not valid for version {version}")
            (o.in_controlled_shutdown,) = _u_b(buf, pos)
            pos += 1
        elif tag == 2:
            if not version >= 2:
                raise DecodeError(f"tag 2 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 16 > len(buf) - pos or n > 1000000:
                    raise refuse_count("log_dirs", n, len(buf) - pos)
                o.log_dirs, pos = read_uuids(buf, pos, n)
            else:
                raise refuse_null("log_dirs")
        elif tag == 3:
            if not version >= 3:
                raise DecodeError(f"tag 3 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 16 > len(buf) - pos or n > 1000000:
                    raise refuse_count("cordoned_log_dirs", n, len(buf) - pos)
                o.cordoned_log_dirs, pos = read_uuids(buf, pos, n)
            else:
                o.cordoned_log_dirs = None
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_BrokerRegistrationChangeRecord(o: BrokerRegistrationChangeRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.fenced != 0:
        known[0] = _p_b(o.fenced)
    if version >= 1 and o.in_controlled_shutdown != 0:
        known[1] = _p_b(o.in_controlled_shutdown)
    if version >= 2 and len(o.log_dirs) != 0:
        w = bytearray()
        n = len(o.log_dirs) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        put_uuids(w, o.log_dirs)
        known[2] = bytes(w)
    if version >= 3 and o.cordoned_log_dirs is not None:
        w = bytearray()
        if o.cordoned_log_dirs is None:
            w.append(0)
        else:
            n = len(o.cordoned_log_dirs) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            put_uuids(w, o.cordoned_log_dirs)
        known[3] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
