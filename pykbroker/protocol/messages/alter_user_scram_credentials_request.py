"""AlterUserScramCredentialsRequest (request 51, versions 0-0).

Generated from schemas/api/alter_user_scram_credentials.txt by pykbroker.protocol.generate: do not edit.
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
_u_bB = Struct(">bB").unpack_from
_u_biB = Struct(">biB").unpack_from
_p_b = Struct(">b").pack
_p_bi = Struct(">bi").pack


class AlterUserScramCredentialsRequest(Message):
    __slots__ = (
        "deletions",
        "upsertions",
        "unknown_tags",
    )

    API_KEY = 51
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        deletions: list[ScramCredentialDeletion] = FRESH,
        upsertions: list[ScramCredentialUpsertion] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.deletions = [] if deletions is FRESH else deletions
        self.upsertions = [] if upsertions is FRESH else upsertions
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("AlterUserScramCredentialsRequest", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("deletions", n, len(buf) - pos)
                o.deletions = a = []
                for _ in range(n):
                    o1 = _new(ScramCredentialDeletion)
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
                    o1.mechanism, n = _u_bB(buf, pos)
                    pos += 2
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("deletions")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 9 > len(buf) - pos or n > most:
                    raise refuse_count("upsertions", n, len(buf) - pos)
                o.upsertions = a = []
                for _ in range(n):
                    o1 = _new(ScramCredentialUpsertion)
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
                    o1.mechanism, o1.iterations, n = _u_biB(buf, pos)
                    pos += 6
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.salt = bytes(buf[pos:e])
                        pos = e
                    else:
                        raise refuse_null("salt")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.salted_password = bytes(buf[pos:e])
                        pos = e
                    else:
                        raise refuse_null("salted_password")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("upsertions")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterUserScramCredentialsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterUserScramCredentialsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"AlterUserScramCredentialsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            n = len(o.deletions) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.deletions:
                s = o1.name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_b(o1.mechanism)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            n = len(o.upsertions) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.upsertions:
                s = o1.name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_bi(o1.mechanism, o1.iterations)
                n = len(o1.salt) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o1.salt
                n = len(o1.salted_password) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o1.salted_password
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AlterUserScramCredentialsRequest v{version}: {error}") from error


class ScramCredentialDeletion(Message):
    __slots__ = (
        "name",
        "mechanism",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tags = unknown_tags


class ScramCredentialUpsertion(Message):
    __slots__ = (
        "name",
        "mechanism",
        "iterations",
        "salt",
        "salted_password",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        self.unknown_tags = unknown_tags
