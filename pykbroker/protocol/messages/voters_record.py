"""VotersRecord (data, versions 0-0).

Generated from schemas/control/voters_record.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_HB = Struct(">HB").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hhB = Struct(">hhB").unpack_from
_u_iuB = Struct(">i16sB").unpack_from
_p_H = Struct(">H").pack
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_iu = Struct(">i16s").pack


class VotersRecord(Message):
    __slots__ = (
        "version",
        "voters",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        version: int = 0,
        voters: list[Voter] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.voters = [] if voters is FRESH else voters
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("VotersRecord", version)
        o = _new(cls)
        try:
            o.version, n = _u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 27 > len(buf) - pos or n > 1000000:
                    raise refuse_count("voters", n, len(buf) - pos)
                o.voters = a = []
                for _ in range(n):
                    x, pos = _read_Voter(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("voters")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"VotersRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"VotersRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"VotersRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_h(o.version)
            n = len(o.voters) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.voters:
                _write_Voter(x, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"VotersRecord v{version}: {error}") from error


class Voter(Message):
    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "endpoints",
        "kraft_version_feature",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: list[Endpoint] = FRESH,
        kraft_version_feature: KRaftVersionFeature = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints = [] if endpoints is FRESH else endpoints
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is FRESH else kraft_version_feature
        self.unknown_tags = unknown_tags


class Endpoint(Message):
    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags


class KRaftVersionFeature(Message):
    __slots__ = (
        "min_supported_version",
        "max_supported_version",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tags = unknown_tags


def _read_Voter(buf: bytes | memoryview, pos: int, version: int) -> tuple[Voter, int]:
    o = _new(Voter)
    o.voter_id, o.voter_directory_id, n = _u_iuB(buf, pos)
    pos += 21
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 5 > len(buf) - pos or n > 1000000:
            raise refuse_count("endpoints", n, len(buf) - pos)
        o.endpoints = a = []
        for _ in range(n):
            x, pos = _read_Endpoint(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("endpoints")
    o.kraft_version_feature, pos = _read_KRaftVersionFeature(buf, pos, version)
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Voter(o: Voter, w: bytearray, version: int) -> None:
    w += _p_iu(o.voter_id, o.voter_directory_id)
    n = len(o.endpoints) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.endpoints:
        _write_Endpoint(x, w, version)
    _write_KRaftVersionFeature(o.kraft_version_feature, w, version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_Endpoint(buf: bytes | memoryview, pos: int, version: int) -> tuple[Endpoint, int]:
    o = _new(Endpoint)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.name = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("name")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.host = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("host")
    o.port, n = _u_HB(buf, pos)
    pos += 3
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Endpoint(o: Endpoint, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    s = o.host.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_H(o.port)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_KRaftVersionFeature(buf: bytes | memoryview, pos: int, version: int) -> tuple[KRaftVersionFeature, int]:
    o = _new(KRaftVersionFeature)
    o.min_supported_version, o.max_supported_version, n = _u_hhB(buf, pos)
    pos += 5
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_KRaftVersionFeature(o: KRaftVersionFeature, w: bytearray, version: int) -> None:
    w += _p_hh(o.min_supported_version, o.max_supported_version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
