"""DescribeUserScramCredentialsResponse (response 50, versions 0-0).

Generated from schemas/api/describe_user_scram_credentials.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_biB = Struct(">biB").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_bi = Struct(">bi").pack
_p_h = Struct(">h").pack
_p_ih = Struct(">ih").pack


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tags",
    )

    API_KEY = 50
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is FRESH else results
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DescribeUserScramCredentialsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.error_message = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.error_message = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 6 > len(buf) - pos or n > 1000000:
                    raise refuse_count("results", n, len(buf) - pos)
                o.results = a = []
                for _ in range(n):
                    o1 = _new(DescribeUserScramCredentialsResult)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.user = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("user")
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
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 6 > len(buf) - pos or n > 1000000:
                            raise refuse_count("credential_infos", n, len(buf) - pos)
                        o1.credential_infos = a1 = []
                        for _ in range(n):
                            o2 = _new(CredentialInfo)
                            o2.mechanism, o2.iterations, n = _u_biB(buf, pos)
                            pos += 6
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("credential_infos")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("results")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeUserScramCredentialsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeUserScramCredentialsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DescribeUserScramCredentialsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
            if o.error_message is None:
                w.append(0)
            else:
                s = o.error_message.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            n = len(o.results) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.results:
                s = o1.user.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
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
                n = len(o1.credential_infos) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.credential_infos:
                    w += _p_bi(o2.mechanism, o2.iterations)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeUserScramCredentialsResponse v{version}: {error}") from error


class DescribeUserScramCredentialsResult(Message):
    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "credential_infos",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is FRESH else credential_infos
        self.unknown_tags = unknown_tags


class CredentialInfo(Message):
    __slots__ = (
        "mechanism",
        "iterations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        mechanism: int = 0,
        iterations: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations
        self.unknown_tags = unknown_tags
