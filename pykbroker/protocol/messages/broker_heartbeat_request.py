"""BrokerHeartbeatRequest (request 63, versions 0-2).

Generated from schemas/api/broker_heartbeat.txt by pykbroker.protocol.generate: do not edit.
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
_u_iqqooB = Struct(">iqq??B").unpack_from
_p_iqqoo = Struct(">iqq??").pack


class BrokerHeartbeatRequest(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "current_metadata_offset",
        "want_fence",
        "want_shut_down",
        "offline_log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )

    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = FRESH,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = [] if offline_log_dirs is FRESH else offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("BrokerHeartbeatRequest", version)
        o = _new(cls)
        try:
            o.broker_id, o.broker_epoch, o.current_metadata_offset, o.want_fence, o.want_shut_down, n = _u_iqqooB(buf, pos)
            pos += 23
            o.offline_log_dirs = []
            o.cordoned_log_dirs = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_BrokerHeartbeatRequest(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BrokerHeartbeatRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BrokerHeartbeatRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"BrokerHeartbeatRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 1) and len(o.offline_log_dirs) != 0:
                raise refuse_field("offline_log_dirs", version)
            if not (version >= 2) and o.cordoned_log_dirs is not None:
                raise refuse_field("cordoned_log_dirs", version)
            w += _p_iqqoo(o.broker_id, o.broker_epoch, o.current_metadata_offset, o.want_fence, o.want_shut_down)
            if len(o.offline_log_dirs) != 0 or o.cordoned_log_dirs is not None or o.unknown_tags:
                _put_tags_BrokerHeartbeatRequest(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BrokerHeartbeatRequest v{version}: {error}") from error


def _tags_BrokerHeartbeatRequest(o: BrokerHeartbeatRequest, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 1:
                raise DecodeError(f"tag 0 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 16 > len(buf) - pos or n > 1000000:
                    raise refuse_count("offline_log_dirs", n, len(buf) - pos)
                o.offline_log_dirs, pos = read_uuids(buf, pos, n)
            else:
                raise refuse_null("offline_log_dirs")
        elif tag == 1:
            if not version >= 2:
                raise DecodeError(f"tag 1 is not valid for version {version}")
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


def _put_tags_BrokerHeartbeatRequest(o: BrokerHeartbeatRequest, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 1 and len(o.offline_log_dirs) != 0:
        w = bytearray()
        n = len(o.offline_log_dirs) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        put_uuids(w, o.offline_log_dirs)
        known[0] = bytes(w)
    if version >= 2 and o.cordoned_log_dirs is not None:
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
        known[1] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
