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
                    o1 = _new(Voter)
                    o1.voter_id, o1.voter_directory_id, n = _u_iuB(buf, pos)
                    pos += 21
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 5 > len(buf) - pos or n > 1000000:
                            raise refuse_count("endpoints", n, len(buf) - pos)
                        o1.endpoints = a1 = []
                        for _ in range(n):
                            o2 = _new(Endpoint)
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
                                o2.host = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("host")
                            o2.port, n = _u_HB(buf, pos)
                            pos += 3
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("endpoints")
                    o1.kraft_version_feature, pos = _read_KRaftVersionFeature(buf, pos, version)
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
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
            for o1 in o.voters:
                w += _p_iu(o1.voter_id, o1.voter_directory_id)
                n = len(o1.endpoints) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.endpoints:
                    s = o2.name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o2.host.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_H(o2.port)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                _write_KRaftVersionFeature(o1.kraft_version_feature, w, version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
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
