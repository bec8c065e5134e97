"""ShareSnapshotValue (value 0, versions 0-0).

Generated from schemas/share/share_snapshot.txt by pykbroker.protocol.generate: do not edit.
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
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_i = Struct(">i").unpack_from
_u_iiiqqqB = Struct(">iiiqqqB").unpack_from
_u_qqbhB = Struct(">qqbhB").unpack_from
_p_i = Struct(">i").pack
_p_iiiqqq = Struct(">iiiqqq").pack
_p_qqbh = Struct(">qqbh").pack


class ShareSnapshotValue(Message):
    __slots__ = (
        "snapshot_epoch",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "create_timestamp",
        "write_timestamp",
        "state_batches",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: list[StateBatch] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.create_timestamp = create_timestamp
        self.write_timestamp = write_timestamp
        self.state_batches = [] if state_batches is FRESH else state_batches
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("ShareSnapshotValue", version)
        o = _new(cls)
        try:
            o.snapshot_epoch, o.state_epoch, o.leader_epoch, o.start_offset, o.create_timestamp, o.write_timestamp, n = _u_iiiqqqB(buf, pos)
            pos += 37
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 20 > len(buf) - pos or n > 1000000:
                    raise refuse_count("state_batches", n, len(buf) - pos)
                o.state_batches = a = []
                for _ in range(n):
                    o1 = _new(StateBatch)
                    o1.first_offset, o1.last_offset, o1.delivery_state, o1.delivery_count, n = _u_qqbhB(buf, pos)
                    pos += 20
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("state_batches")
            n = buf[pos]
            pos += 1
            o.delivery_complete_count = -1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_ShareSnapshotValue(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ShareSnapshotValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ShareSnapshotValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"ShareSnapshotValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iiiqqq(o.snapshot_epoch, o.state_epoch, o.leader_epoch, o.start_offset, o.create_timestamp, o.write_timestamp)
            n = len(o.state_batches) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.state_batches:
                w += _p_qqbh(o1.first_offset, o1.last_offset, o1.delivery_state, o1.delivery_count)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.delivery_complete_count != -1 or o.unknown_tags:
                _put_tags_ShareSnapshotValue(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ShareSnapshotValue v{version}: {error}") from error


class StateBatch(Message):
    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tags = unknown_tags


def _tags_ShareSnapshotValue(o: ShareSnapshotValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.delivery_complete_count,) = _u_i(buf, pos)
            pos += 4
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_ShareSnapshotValue(o: ShareSnapshotValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.delivery_complete_count != -1:
        known[0] = _p_i(o.delivery_complete_count)
    put_tags(tail, known, o.unknown_tags)
