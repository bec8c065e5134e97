"""GroupMetadataValue (value 2, versions 0-4).

Generated from schemas/group_coordinator/group_metadata.txt by pykbroker.protocol.generate: do not edit.
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
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_q = Struct(">q").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ii = Struct(">ii").pack
_p_q = Struct(">q").pack


class GroupMetadataValue(Message):
    __slots__ = (
        "protocol_type",
        "generation",
        "protocol",
        "leader",
        "current_state_timestamp",
        "members",
        "unknown_tags",
    )

    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 4
    LATEST_VERSION = 4
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is FRESH else members
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 4:
            raise refuse_version("GroupMetadataValue", version)
        o = _new(cls)
        try:
            if version >= 4:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.protocol_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("protocol_type")
                o.generation, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.protocol = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.protocol = None
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.leader = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.leader = None
                o.current_state_timestamp, n = _u_qB(buf, pos)
                pos += 9
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 15 > len(buf) - pos or n > 1000000:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(MemberMetadata)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.member_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("member_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.group_instance_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.group_instance_id = None
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.client_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("client_id")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.client_host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("client_host")
                        o1.rebalance_timeout, o1.session_timeout, n = _u_iiB(buf, pos)
                        pos += 9
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.subscription = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("subscription")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.assignment = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("assignment")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    raise refuse_null("members")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.protocol_type = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("protocol_type")
                o.generation, n = _u_ih(buf, pos)
                pos += 6
                if n >= 0:
                    e = pos + n
                    o.protocol = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.protocol = None
                (n,) = _u_h(buf, pos)
                pos += 2
                if n >= 0:
                    e = pos + n
                    o.leader = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    o.leader = None
                if version >= 2:
                    (o.current_state_timestamp,) = _u_q(buf, pos)
                    pos += 8
                else:
                    o.current_state_timestamp = -1
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 18 > len(buf) - pos or n > 1000000:
                        raise refuse_count("members", n, len(buf) - pos)
                    o.members = a = []
                    for _ in range(n):
                        o1 = _new(MemberMetadata)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.member_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("member_id")
                        if version >= 3:
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.group_instance_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.group_instance_id = None
                        else:
                            o1.group_instance_id = None
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.client_id = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("client_id")
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.client_host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("client_host")
                        if version >= 1:
                            (o1.rebalance_timeout,) = _u_i(buf, pos)
                            pos += 4
                        else:
                            o1.rebalance_timeout = -1
                        o1.session_timeout, n = _u_ii(buf, pos)
                        pos += 8
                        if n >= 0:
                            e = pos + n
                            o1.subscription = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("subscription")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.assignment = bytes(buf[pos:e])
                            pos = e
                        else:
                            raise refuse_null("assignment")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    raise refuse_null("members")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"GroupMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"GroupMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 4:
            raise EncodeError(f"GroupMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 4:
                s = o.protocol_type.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_i(o.generation)
                if o.protocol is None:
                    w.append(0)
                else:
                    s = o.protocol.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                if o.leader is None:
                    w.append(0)
                else:
                    s = o.leader.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                w += _p_q(o.current_state_timestamp)
                n = len(o.members) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.members:
                    s = o1.member_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if o1.group_instance_id is None:
                        w.append(0)
                    else:
                        s = o1.group_instance_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    s = o1.client_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o1.client_host.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_ii(o1.rebalance_timeout, o1.session_timeout)
                    n = len(o1.subscription) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.subscription
                    n = len(o1.assignment) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += o1.assignment
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.protocol_type.encode()
                w += _p_h(len(s))
                w += s
                w += _p_i(o.generation)
                if o.protocol is None:
                    w += b"\xff\xff"
                else:
                    s = o.protocol.encode()
                    w += _p_h(len(s))
                    w += s
                if o.leader is None:
                    w += b"\xff\xff"
                else:
                    s = o.leader.encode()
                    w += _p_h(len(s))
                    w += s
                if version >= 2:
                    w += _p_q(o.current_state_timestamp)
                w += _p_i(len(o.members))
                for o1 in o.members:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.member_id.encode()
                    w += _p_h(len(s))
                    w += s
                    if version >= 3:
                        if o1.group_instance_id is None:
                            w += b"\xff\xff"
                        else:
                            s = o1.group_instance_id.encode()
                            w += _p_h(len(s))
                            w += s
                    s = o1.client_id.encode()
                    w += _p_h(len(s))
                    w += s
                    s = o1.client_host.encode()
                    w += _p_h(len(s))
                    w += s
                    if version >= 1:
                        w += _p_i(o1.rebalance_timeout)
                    w += _p_ii(o1.session_timeout, len(o1.subscription))
                    w += o1.subscription
                    w += _p_i(len(o1.assignment))
                    w += o1.assignment
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"GroupMetadataValue v{version}: {error}") from error


class MemberMetadata(Message):
    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        self.unknown_tags = unknown_tags
