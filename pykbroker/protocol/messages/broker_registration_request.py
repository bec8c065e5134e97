"""BrokerRegistrationRequest (request 62, versions 0-4).

Generated from schemas/api/broker_registration.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tags,
    read_uuids,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_HhB = Struct(">HhB").unpack_from
_u_hhB = Struct(">hhB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_q = Struct(">q").unpack_from
_p_u = Struct(">16s").pack
_p_o = Struct(">?").pack
_p_Hh = Struct(">Hh").pack
_p_hh = Struct(">hh").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class BrokerRegistrationRequest(Message):
    __slots__ = (
        "broker_id",
        "cluster_id",
        "incarnation_id",
        "listeners",
        "features",
        "rack",
        "is_migrating_zk_broker",
        "log_dirs",
        "previous_broker_epoch",
        "unknown_tags",
    )

    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = FRESH,
        features: list[Feature] = FRESH,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: list[bytes] = FRESH,
        previous_broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is FRESH else listeners
        self.features = [] if features is FRESH else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is FRESH else log_dirs
        self.previous_broker_epoch = previous_broker_epoch
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("BrokerRegistrationRequest", version)
        o = _new(cls)
        try:
            o.broker_id, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.cluster_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("cluster_id")
            o.incarnation_id, n = _u_uB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 7 > len(buf) - pos or n > most:
                    raise refuse_count("listeners", n, len(buf) - pos)
                o.listeners = a = []
                for _ in range(n):
                    o1 = _new(Listener)
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
                raise refuse_null("listeners")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > most:
                    raise refuse_count("features", n, len(buf) - pos)
                o.features = a = []
                for _ in range(n):
                    o1 = _new(Feature)
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
            if version >= 1:
                o.is_migrating_zk_broker = buf[pos] != 0
                pos += 1
            else:
                o.is_migrating_zk_broker = False
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 16 > len(buf) - pos or n > most:
                        raise refuse_count("log_dirs", n, len(buf) - pos)
                    o.log_dirs, pos = read_uuids(buf, pos, n)
                else:
                    raise refuse_null("log_dirs")
            else:
                o.log_dirs = []
            if version >= 3:
                (o.previous_broker_epoch,) = _u_q(buf, pos)
                pos += 8
            else:
                o.previous_broker_epoch = -1
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"BrokerRegistrationRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"BrokerRegistrationRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"BrokerRegistrationRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            s = o.cluster_id.encode()
            w += _p_i(o.broker_id)
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_u(o.incarnation_id)
            n = len(o.listeners) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.listeners:
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
            if version >= 1:
                w += _p_o(o.is_migrating_zk_broker)
            elif o.is_migrating_zk_broker:
                raise refuse_field("is_migrating_zk_broker", version)
            if version >= 2:
                n = len(o.log_dirs) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                put_uuids(w, o.log_dirs)
            if version >= 3:
                w += _p_q(o.previous_broker_epoch)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"BrokerRegistrationRequest v{version}: {error}") from error


class Listener(Message):
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


class Feature(Message):
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
