"""ConsumerGroupCurrentMemberAssignmentKey (key 8, versions 0-0).

Generated from schemas/group_coordinator/consumer_group_current_member_assignment.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_p_h = Struct(">h").pack


class ConsumerGroupCurrentMemberAssignmentKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "unknown_tags",
    )

    API_KEY = 8
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 32767

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ConsumerGroupCurrentMemberAssignmentKey", version)
        o = _new(cls)
        try:
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.group_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("group_id")
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.member_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("member_id")
            o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerGroupCurrentMemberAssignmentKey v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerGroupCurrentMemberAssignmentKey v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ConsumerGroupCurrentMemberAssignmentKey has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.unknown_tags:
                raise refuse_field("unknown_tags", version)
            s = o.group_id.encode()
            w += _p_h(len(s))
            w += s
            s = o.member_id.encode()
            w += _p_h(len(s))
            w += s
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerGroupCurrentMemberAssignmentKey v{version}: {error}") from error
