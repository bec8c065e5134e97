"""UserScramCredentialRecord (record 11, versions 0-0).

Generated from schemas/metadata/user_scram_credential_record.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_bB = Struct(">bB").unpack_from
_u_iB = Struct(">iB").unpack_from
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack


class UserScramCredentialRecord(Message):
    __slots__ = (
        "name",
        "mechanism",
        "salt",
        "stored_key",
        "server_key",
        "iterations",
        "unknown_tags",
    )

    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("UserScramCredentialRecord", version)
        o = _new(cls)
        try:
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
            o.mechanism, n = _u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.salt = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("salt")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.stored_key = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("stored_key")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.server_key = bytes(buf[pos:e])
                pos = e
            else:
                raise refuse_null("server_key")
            o.iterations, n = _u_iB(buf, pos)
            pos += 5
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UserScramCredentialRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UserScramCredentialRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"UserScramCredentialRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            s = o.name.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_b(o.mechanism)
            n = len(o.salt) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += o.salt
            n = len(o.stored_key) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += o.stored_key
            n = len(o.server_key) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            w += o.server_key
            w += _p_i(o.iterations)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UserScramCredentialRecord v{version}: {error}") from error
