"""RemoveUserScramCredentialRecord (record 22, versions 0-0).

Generated from schemas/metadata/remove_user_scram_credential_record.txt by pykbroker.protocol.generate: do not edit.
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
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_bB = Struct(">bB").unpack_from
_p_b = Struct(">b").pack


class RemoveUserScramCredentialRecord(Message):
    __slots__ = (
        "name",
        "mechanism",
        "unknown_tags",
    )

    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

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

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("RemoveUserScramCredentialRecord", version)
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
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RemoveUserScramCredentialRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RemoveUserScramCredentialRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"RemoveUserScramCredentialRecord has no version {version}")
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
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RemoveUserScramCredentialRecord v{version}: {error}") from error
