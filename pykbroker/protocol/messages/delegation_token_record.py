"""DelegationTokenRecord (record 10, versions 0-0).

Generated from schemas/metadata/delegation_token_record.txt by pykbroker.protocol.generate: do not edit.
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
_u_qqqB = Struct(">qqqB").unpack_from
_p_qqq = Struct(">qqq").pack


class DelegationTokenRecord(Message):
    __slots__ = (
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
        "token_id",
        "unknown_tags",
    )

    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = FRESH,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is FRESH else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DelegationTokenRecord", version)
        o = _new(cls)
        try:
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.owner = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("owner")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.requester = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("requester")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n > len(buf) - pos or n > 1000000:
                    raise refuse_count("renewers", n, len(buf) - pos)
                o.renewers = a = []
                for _ in range(n):
                    m = buf[pos]
                    pos += 1
                    if m > 127:
                        m, pos = read_string_length(buf, pos - 1)
                    if m <= 0:
                        raise refuse_null("renewers element")
                    e = pos + m - 1
                    a.append(str(buf[pos:e], "utf-8", "java"))
                    pos = e
            else:
                raise refuse_null("renewers")
            o.issue_timestamp, o.max_timestamp, o.expiration_timestamp, n = _u_qqqB(buf, pos)
            pos += 25
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.token_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("token_id")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DelegationTokenRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DelegationTokenRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DelegationTokenRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            s = o.owner.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            s = o.requester.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            n = len(o.renewers) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.renewers:
                s = x.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            s = o.token_id.encode()
            w += _p_qqq(o.issue_timestamp, o.max_timestamp, o.expiration_timestamp)
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DelegationTokenRecord v{version}: {error}") from error
