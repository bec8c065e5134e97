"""RegisterBrokerRecord (record 0, versions 0-4).

Generated from schemas/metadata/register_broker_record.txt by pykbroker.protocol.generate: do not edit.
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
    put_uuids,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_unknown_tags,
    read_uuids,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uqB = Struct(">16sqB").unpack_from
_u_HhB = Struct(">HhB").unpack_from
_u_hhB = Struct(">hhB").unpack_from
_u_i = Struct(">i").unpack_from
_p_uq = Struct(">16sq").pack
_p_o = Struct(">?").pack
_p_Hh = Struct(">Hh").pack
_p_hh = Struct(">hh").pack
_p_i = Struct(">i").pack


class RegisterBrokerRecord(Message):
    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = FRESH,
        features: list[BrokerFeature] = FRESH,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[bytes] = FRESH,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is FRESH else end_points
        self.features = [] if features is FRESH else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is FRESH else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("RegisterBrokerRecord", version)
        o = _new(cls)
        try:
            (o.broker_id,) = _u_i(buf, pos)
            pos += 4
            if version >= 2:
                o.is_migrating_zk_broker = buf[pos] != 0
                pos += 1
            else:
                o.is_migrating_zk_broker = False
            o.incarnation_id, o.broker_epoch, n = _u_uqB(buf, pos)
            pos += 25
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 7 > len(buf) - pos or n > 1000000:
                    raise refuse_count("end_points", n, len(buf) - pos)
                o.end_points = a = []
                for _ in range(n):
                    o1 = _new(BrokerEndpoint)
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
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.host = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("host")
                    o1.port, o1.security_protocol, n = _u_HhB(buf, pos)
                    pos += 5
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("end_points")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("features", n, len(buf) - pos)
                o.features = a = []
                for _ in range(n):
                    o1 = _new(BrokerFeature)
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
                    o1.min_supported_version, o1.max_supported_version, n = _u_hhB(buf, pos)
                    pos += 5
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("features")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.rack = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.rack = None
            o.fenced = buf[pos] != 0
            pos += 1
            if version >= 1:
                o.in_controlled_shutdown = buf[pos] != 0
                pos += 1
            else:
                o.in_controlled_shutdown = False
            n = buf[pos]
            pos += 1
            o.log_dirs = []
            o.cordoned_log_dirs = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_RegisterBrokerRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RegisterBrokerRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RegisterBrokerRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"RegisterBrokerRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 3) and len(o.log_dirs) != 0:
                raise refuse_field("log_dirs", version)
            if not (version >= 4) and o.cordoned_log_dirs is not None:
                raise refuse_field("cordoned_log_dirs", version)
            w += _p_i(o.broker_id)
            if version >= 2:
                w += _p_o(o.is_migrating_zk_broker)
            elif o.is_migrating_zk_broker:
                raise refuse_field("is_migrating_zk_broker", version)
            w += _p_uq(o.incarnation_id, o.broker_epoch)
            n = len(o.end_points) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.end_points:
                s = o1.name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o1.host.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_Hh(o1.port, o1.security_protocol)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            n = len(o.features) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.features:
                s = o1.name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_hh(o1.min_supported_version, o1.max_supported_version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.rack is None:
                w.append(0)
            else:
                s = o.rack.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            w += _p_o(o.fenced)
            if version >= 1:
                w += _p_o(o.in_controlled_shutdown)
            elif o.in_controlled_shutdown:
                raise refuse_field("in_controlled_shutdown", version)
            if len(o.log_dirs) != 0 or o.cordoned_log_dirs is not None or o.unknown_tags:
                _put_tags_RegisterBrokerRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RegisterBrokerRecord v{version}: {error}") from error


class BrokerEndpoint(Message):
    __slots__ = (
        "name",
        "host",
        "port",
        "security_protocol",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        self.unknown_tags = unknown_tags


class BrokerFeature(Message):
    __slots__ = (
        "name",
        "min_supported_version",
        "max_supported_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags = unknown_tags


def _tags_RegisterBrokerRecord(o: RegisterBrokerRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            if not version >= 3:
                raise DecodeError(f"tag 0 is not valid for version {version}")
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
        elif tag == 1:
            if not version >= 4:
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


def _put_tags_RegisterBrokerRecord(o: RegisterBrokerRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if version >= 3 and len(o.log_dirs) != 0:
        w = bytearray()
        n = len(o.log_dirs) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        put_uuids(w, o.log_dirs)
        known[0] = bytes(w)
    if version >= 4 and o.cordoned_log_dirs is not None:
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
