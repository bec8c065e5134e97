"""ConsumerGroupTargetAssignmentMetadataValue (value 6, versions 0-0).

Generated from schemas/group_coordinator/consumer_group_target_assignment_metadata.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    read_tag_count,
    read_unknown_tag,
    read_uvarint,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_u_q = Struct(">q").unpack_from
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
        "unknown_tags",
    )

    API_KEY = 6
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ConsumerGroupTargetAssignmentMetadataValue", version)
        o = _new(cls)
        try:
            o.assignment_epoch, n = _u_iB(buf, pos)
            pos += 5
            o.assignment_timestamp = 0
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_ConsumerGroupTargetAssignmentMetadataValue(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ConsumerGroupTargetAssignmentMetadataValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ConsumerGroupTargetAssignmentMetadataValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ConsumerGroupTargetAssignmentMetadataValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.assignment_epoch)
            if o.assignment_timestamp != 0 or o.unknown_tags:
                _put_tags_ConsumerGroupTargetAssignmentMetadataValue(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ConsumerGroupTargetAssignmentMetadataValue v{version}: {error}") from error


def _tags_ConsumerGroupTargetAssignmentMetadataValue(o: ConsumerGroupTargetAssignmentMetadataValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.assignment_timestamp,) = _u_q(buf, pos)
            pos += 8
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_ConsumerGroupTargetAssignmentMetadataValue(o: ConsumerGroupTargetAssignmentMetadataValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.assignment_timestamp != 0:
        known[0] = _p_q(o.assignment_timestamp)
    put_tags(tail, known, o.unknown_tags)
