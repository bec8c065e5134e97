"""PartitionChangeRecord (record 5, versions 0-2).

Generated from schemas/metadata/partition_change_record.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_u_i = Struct(">i").unpack_from
_u_iuB = Struct(">i16sB").unpack_from
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_iu = Struct(">i16s").pack


class PartitionChangeRecord(Message):
    __slots__ = (
        "partition_id",
        "topic_id",
        "isr",
        "leader",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tags",
    )

    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("PartitionChangeRecord", version)
        o = _new(cls)
        try:
            o.partition_id, o.topic_id, n = _u_iuB(buf, pos)
            pos += 21
            o.isr = None
            o.leader = -2
            o.replicas = None
            o.removing_replicas = None
            o.adding_replicas = None
            o.leader_recovery_state = -1
            o.directories = None
            o.eligible_leader_replicas = None
            o.last_known_elr = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_PartitionChangeRecord(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"PartitionChangeRecord v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"PartitionChangeRecord v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"PartitionChangeRecord has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if not (version >= 1) and o.directories is not None:
                raise refuse_field("directories", version)
            if not (version >= 2) and o.eligible_leader_replicas is not None:
                raise refuse_field("eligible_leader_replicas", version)
            if not (version >= 2) and o.last_known_elr is not None:
                raise refuse_field("last_known_elr", version)
            w += _p_iu(o.partition_id, o.topic_id)
            if o.isr is not None or o.leader != -2 or o.replicas is not None or o.removing_replicas is not None or o.adding_replicas is not None or o.leader_recovery_state != -1 or o.directories is not None or o.eligible_leader_replicas is not None or o.last_known_elr is not None or o.unknown_tags:
                _put_tags_PartitionChangeRecord(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"PartitionChangeRecord v{version}: {error}") from error


def _tags_PartitionChangeRecord(o: PartitionChangeRecord, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
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
                    o.isr = None
        elif tag == 1:
            (o.leader,) = _u_i(buf, pos)
            pos += 4
        elif tag == 2:
            n = buf[pos]
            pos += 1
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
                    o.replicas = None
        elif tag == 3:
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
                    o.removing_replicas = None
        elif tag == 4:
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
                    o.adding_replicas = None
        elif tag == 5:
            (o.leader_recovery_state,) = _u_b(buf, pos)
            pos += 1
        elif tag == 8:
            if not version >= 1:
                raise DecodeError(f"tag 8 is not valid for version {version}")
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
                o.directories = None
        elif tag == 6:
            if not version >= 2:
                raise DecodeError(f"tag 6 is not valid for version {version}")
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
        elif tag == 7:
            if not version >= 2:
                raise DecodeError(f"tag 7 is not valid for version {version}")
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


def _put_tags_PartitionChangeRecord(o: PartitionChangeRecord, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.isr is not None:
        w = bytearray()
        if o.isr is None:
            w.append(0)
        else:
            n = len(o.isr) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.isr)
            else:
                w += pack(f">{len(o.isr)}i", *o.isr)
        known[0] = bytes(w)
    if o.leader != -2:
        known[1] = _p_i(o.leader)
    if o.replicas is not None:
        w = bytearray()
        if o.replicas is None:
            w.append(0)
        else:
            n = len(o.replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.replicas)
            else:
                w += pack(f">{len(o.replicas)}i", *o.replicas)
        known[2] = bytes(w)
    if o.removing_replicas is not None:
        w = bytearray()
        if o.removing_replicas is None:
            w.append(0)
        else:
            n = len(o.removing_replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.removing_replicas)
            else:
                w += pack(f">{len(o.removing_replicas)}i", *o.removing_replicas)
        known[3] = bytes(w)
    if o.adding_replicas is not None:
        w = bytearray()
        if o.adding_replicas is None:
            w.append(0)
        else:
            n = len(o.adding_replicas) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            if n < 17:
                w += PACK_INT32S[n - 1](*o.adding_replicas)
            else:
                w += pack(f">{len(o.adding_replicas)}i", *o.adding_replicas)
        known[4] = bytes(w)
    if o.leader_recovery_state != -1:
        known[5] = _p_b(o.leader_recovery_state)
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
        known[6] = bytes(w)
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
        known[7] = bytes(w)
    if version >= 1 and o.directories is not None:
        w = bytearray()
        if o.directories is None:
            w.append(0)
        else:
            n = len(o.directories) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            put_uuids(w, o.directories)
        known[8] = bytes(w)
    put_tags(tail, known, o.unknown_tags)
