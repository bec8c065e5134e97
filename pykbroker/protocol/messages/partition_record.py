"""PartitionRecord (record 3, versions 0-2).

Generated from schemas/metadata/partition_record.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    FRESH,
    Message,
    PACK_INT32S,
    READ_INT32S,
    ZERO_UUID,
    put_tags,
    put_uuids,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tag,
    read_uuids,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_u_iuB = Struct(">i16sB").unpack_from
_u_iii = Struct(">iii").unpack_from
_p_b = Struct(">b").pack
_p_iu = Struct(">i16s").pack
_p_iii = Struct(">iii").pack


class PartitionRecord(Message):
    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_recovery_state",
        "leader_epoch",
        "partition_epoch",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tags",
    )

    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = FRESH,
        isr: list[int] = FRESH,
        removing_replicas: list[int] = FRESH,
        adding_replicas: list[int] = FRESH,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = FRESH,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is FRESH else replicas
        self.isr = [] if isr is FRESH else isr
        self.removing_replicas = [] if removing_replicas is FRESH else removing_replicas
        self.adding_replicas = [] if adding_replicas is FRESH else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is FRESH else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("PartitionRecord", version)
        o = _new(cls)
        try:
            o.partition_id, o.topic_id, n = _u_iuB(buf, pos)
            pos += 21
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("replicas", n, len(buf) - pos)
                if n < 16:
                    o.replicas = [*READ_INT32S[n](buf, pos)]
                else:
                    o.replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("replicas")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("isr", n, len(buf) - pos)
                if n < 16:
                    o.isr = [*READ_INT32S[n](buf, pos)]
                else:
                    o.isr = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("isr")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("removing_replicas", n, len(buf) - pos)
                if n < 16:
                    o.removing_replicas = [*READ_INT32S[n](buf, pos)]
                else:
                    o.removing_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("removing_replicas")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("adding_replicas", n, len(buf) - pos)
                if n < 16:
                    o.adding_replicas = [*READ_INT32S[n](buf, pos)]
                else:
                    o.adding_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("adding_replicas")
            o.leader, o.leader_epoch, o.partition_epoch = _u_iii(buf, pos)
            pos += 12
            if version >= 1:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 16 > len(buf) - pos or n > 1000000:
                        raise refuse_count("directories", n, len(buf) - pos)
                    o.directories, pos = read_uuids(buf, pos, n)
                else:
                    raise refuse_null("directories")
            else:
                o.directories = []
            n = buf[pos]
            pos += 1
            o.leader_recovery_state = 0
            o.eligible_leader_replicas = None
            o.last_known_elr = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_PartitionRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"PartitionRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"PartitionRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"PartitionRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 2) and o.eligible_leader_replicas is not None:
                raise refuse_field("eligible_leader_replicas", version)
            if not (version >= 2) and o.last_known_elr is not None:
                raise refuse_field("last_known_elr", version)
            w += _p_iu(o.partition_id, o.topic_id)
            n = len(o.replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.replicas)
            else:
                w += pack(f">{len(o.replicas)}i", *o.replicas)
            n = len(o.isr) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.isr)
            else:
                w += pack(f">{len(o.isr)}i", *o.isr)
            n = len(o.removing_replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.removing_replicas)
            else:
                w += pack(f">{len(o.removing_replicas)}i", *o.removing_replicas)
            n = len(o.adding_replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.adding_replicas)
            else:
                w += pack(f">{len(o.adding_replicas)}i", *o.adding_replicas)
            w += _p_iii(o.leader, o.leader_epoch, o.partition_epoch)
            if version >= 1:
                n = len(o.directories) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                put_uuids(w, o.directories)
            elif len(o.directories) != 0:
                raise refuse_field("directories", version)
            if o.leader_recovery_state != 0 or o.eligible_leader_replicas is not None or o.last_known_elr is not None or o.unknown_tags:
                _put_tags_PartitionRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"PartitionRecord v{version}: {error}") from error


def _tags_PartitionRecord(o: PartitionRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.leader_recovery_state,) = _u_b(buf, pos)
            pos += 1
        elif tag == 1:
            if not version >= 2:
                raise DecodeError(f"tag 1 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("eligible_leader_replicas", n, len(buf) - pos)
                if n < 16:
                    o.eligible_leader_replicas = [*READ_INT32S[n](buf, pos)]
                else:
                    o.eligible_leader_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                    o.eligible_leader_replicas = None
        elif tag == 2:
            if not version >= 2:
                raise DecodeError(f"tag 2 is not valid for version {version}")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("last_known_elr", n, len(buf) - pos)
                if n < 16:
                    o.last_known_elr = [*READ_INT32S[n](buf, pos)]
                else:
                    o.last_known_elr = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                    o.last_known_elr = None
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_PartitionRecord(o: PartitionRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.leader_recovery_state != 0:
        known[0] = _p_b(o.leader_recovery_state)
    if version >= 2 and o.eligible_leader_replicas is not None:
        w = bytearray()
        if o.eligible_leader_replicas is None:
            w.append(0)
        else:
            n = len(o.eligible_leader_replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.eligible_leader_replicas)
            else:
                w += pack(f">{len(o.eligible_leader_replicas)}i", *o.eligible_leader_replicas)
        known[1] = bytes(w)
    if version >= 2 and o.last_known_elr is not None:
        w = bytearray()
        if o.last_known_elr is None:
            w.append(0)
        else:
            n = len(o.last_known_elr) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.last_known_elr)
            else:
                w += pack(f">{len(o.last_known_elr)}i", *o.last_known_elr)
        known[2] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
