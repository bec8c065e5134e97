"""DescribeDelegationTokenResponse (response 41, versions 1-3).

Generated from schemas/api/describe_delegation_token.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hi = Struct(">hi").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_qqqB = Struct(">qqqB").unpack_from
_u_qqqh = Struct(">qqqh").unpack_from
_p_h = Struct(">h").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack
_p_qqq = Struct(">qqq").pack
_p_qqqh = Struct(">qqqh").pack


class DescribeDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "tokens",
        "throttle_time_ms",
        "unknown_tags",
    )

    API_KEY = 41
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = FRESH,
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is FRESH else tokens
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("DescribeDelegationTokenResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.error_code, n = _u_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 30 > len(buf) - pos or n > 1000000:
                        raise refuse_count("tokens", n, len(buf) - pos)
                    o.tokens = a = []
                    for _ in range(n):
                        o1 = _new(DescribedDelegationToken)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_type")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.principal_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_name")
                        if version >= 3:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.token_requester_principal_type = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("token_requester_principal_type")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.token_requester_principal_name = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("token_requester_principal_name")
                        else:
                            o1.token_requester_principal_type = ""
                            o1.token_requester_principal_name = ""
                        o1.issue_timestamp, o1.expiry_timestamp, o1.max_timestamp, n = _u_qqqB(buf, pos)
                        pos += 25
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.token_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("token_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.hmac = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("hmac")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 3 > len(buf) - pos or n > 1000000:
                                raise refuse_count("renewers", n, len(buf) - pos)
                            o1.renewers = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribedDelegationTokenRenewer)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.principal_type = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal_type")
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_string_length(buf, pos - 1)
                                if n > 0:
                                    e = pos + n - 1
                                    o2.principal_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal_name")
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("renewers")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("tokens")
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.error_code, n = _u_hi(buf, pos)
                pos += 6
                if n >= 0:
                    if n * 38 > len(buf) - pos or n > 1000000:
                        raise refuse_count("tokens", n, len(buf) - pos)
                    o.tokens = a = []
                    for _ in range(n):
                        o1 = _new(DescribedDelegationToken)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.principal_type = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_type")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.principal_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("principal_name")
                        o1.issue_timestamp, o1.expiry_timestamp, o1.max_timestamp, n = _u_qqqh(buf, pos)
                        pos += 26
                        if n >= 0:
                            e = pos + n
                            o1.token_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("token_id")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.hmac = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("hmac")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > 1000000:
                                raise refuse_count("renewers", n, len(buf) - pos)
                            o1.renewers = a1 = []
                            for _ in range(n):
                                o2 = _new(DescribedDelegationTokenRenewer)
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.principal_type = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal_type")
                                (n,) = _u_h(buf, pos)
                                pos += 2
                                if n >= 0:
                                    e = pos + n
                                    o2.principal_name = str(buf[pos:e], "utf-8", "java")
                                    pos = e
                                else:
                                    raise refuse_null("principal_name")
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("renewers")
                        o1.token_requester_principal_type = ""
                        o1.token_requester_principal_name = ""
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("tokens")
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeDelegationTokenResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeDelegationTokenResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"DescribeDelegationTokenResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                w += _p_h(o.error_code)
                n = len(o.tokens) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.tokens:
                    s = o1.principal_type.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.principal_name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if version >= 3:
                        s = o1.token_requester_principal_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o1.token_requester_principal_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    elif o1.token_requester_principal_type != "":
                        raise refuse_field("token_requester_principal_type", version)
                    elif o1.token_requester_principal_name != "":
                        raise refuse_field("token_requester_principal_name", version)
                    s = o1.token_id.encode()
                    w += _p_qqq(o1.issue_timestamp, o1.expiry_timestamp, o1.max_timestamp)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o1.hmac) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.hmac
                    n = len(o1.renewers) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.renewers:
                        s = o2.principal_type.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        s = o2.principal_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o.throttle_time_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_hi(o.error_code, len(o.tokens))
                for o1 in o.tokens:
                    if o1.token_requester_principal_type != "":
                        raise refuse_field("token_requester_principal_type", version)
                    if o1.token_requester_principal_name != "":
                        raise refuse_field("token_requester_principal_name", version)
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.principal_type.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.principal_name.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.token_id.encode()
                    w += _p_qqqh(o1.issue_timestamp, o1.expiry_timestamp, o1.max_timestamp, len(s))
                    w += s
                    w += _p_i(len(o1.hmac))
                    w += o1.hmac
                    w += _p_i(len(o1.renewers))
                    for o2 in o1.renewers:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o2.principal_type.encode()
                        w += _p_h(len(s))
                        w += s
                        s = o2.principal_name.encode()
                        w += _p_h(len(s))
                        w += s
                w += _p_i(o.throttle_time_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeDelegationTokenResponse v{version}: {error}") from error


class DescribedDelegationToken(Message):
    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is FRESH else renewers
        self.unknown_tags = unknown_tags


class DescribedDelegationTokenRenewer(Message):
    __slots__ = (
        "principal_type",
        "principal_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tags = unknown_tags
