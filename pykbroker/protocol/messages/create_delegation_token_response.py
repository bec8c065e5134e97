"""CreateDelegationTokenResponse (response 38, versions 1-3).

Generated from schemas/api/create_delegation_token.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_qqqB = Struct(">qqqB").unpack_from
_u_qqqh = Struct(">qqqh").unpack_from
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_i = Struct(">i").pack
_p_qqq = Struct(">qqq").pack
_p_qqqh = Struct(">qqqh").pack


class CreateDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp_ms",
        "expiry_timestamp_ms",
        "max_timestamp_ms",
        "token_id",
        "hmac",
        "throttle_time_ms",
        "unknown_tags",
    )

    API_KEY = 38
    MIN_VERSION = 1
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 3:
            raise refuse_version("CreateDelegationTokenResponse", version)
        o = _new(cls)
        try:
            if version >= 2:
                o.error_code, n = _u_hB(buf, pos)
                pos += 3
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.principal_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("principal_type")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.principal_name = str(buf[pos:e], "utf-8", "java")
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
                        o.token_requester_principal_type = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("token_requester_principal_type")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.token_requester_principal_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("token_requester_principal_name")
                else:
                    o.token_requester_principal_type = ""
                    o.token_requester_principal_name = ""
                o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, n = _u_qqqB(buf, pos)
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
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.hmac = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("hmac")
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.error_code, n = _u_hh(buf, pos)
                pos += 4
                if n >= 0:
                    e = pos + n
                    o.principal_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("principal_type")
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.principal_name = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("principal_name")
                o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, n = _u_qqqh(buf, pos)
                pos += 26
                if n >= 0:
                    e = pos + n
                    o.token_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("token_id")
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    e = pos + n
                    o.hmac = bytes(buf[pos:e])
                    pos = e
                else:
                    raise refuse_null("hmac")
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                o.token_requester_principal_type = ""
                o.token_requester_principal_name = ""
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"CreateDelegationTokenResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"CreateDelegationTokenResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 3:
            raise EncodeError(f"CreateDelegationTokenResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                s = o.principal_type.encode()
                w += _p_h(o.error_code)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.principal_name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if version >= 3:
                    s = o.token_requester_principal_type.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o.token_requester_principal_name.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                elif o.token_requester_principal_type != "":
                    raise refuse_field("token_requester_principal_type", version)
                elif o.token_requester_principal_name != "":
                    raise refuse_field("token_requester_principal_name", version)
                s = o.token_id.encode()
                w += _p_qqq(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o.hmac) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                w += o.hmac
                w += _p_i(o.throttle_time_ms)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.token_requester_principal_type != "":
                    raise refuse_field("token_requester_principal_type", version)
                if o.token_requester_principal_name != "":
                    raise refuse_field("token_requester_principal_name", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.principal_type.encode()
                w += _p_hh(o.error_code, len(s))
                w += s
                s = o.principal_name.encode()
                w += _p_h(len(s))
                w += s
                s = o.token_id.encode()
                w += _p_qqqh(o.issue_timestamp_ms, o.expiry_timestamp_ms, o.max_timestamp_ms, len(s))
                w += s
                w += _p_i(len(o.hmac))
                w += o.hmac
                w += _p_i(o.throttle_time_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"CreateDelegationTokenResponse v{version}: {error}") from error
