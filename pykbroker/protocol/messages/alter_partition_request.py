"""AlterPartitionRequest (request 56, versions 2-3).

Generated from schemas/api/alter_partition.txt by pykbroker.protocol.generate: do not edit.
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
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_uB = Struct(">16sB").unpack_from
_u_biB = Struct(">biB").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_u = Struct(">16s").pack
_p_bi = Struct(">bi").pack
_p_ii = Struct(">ii").pack
_p_iq = Struct(">iq").pack


class AlterPartitionRequest(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "topics",
        "unknown_tags",
    )

    API_KEY = 56
    MIN_VERSION = 2
    MAX_VERSION = 3
    LATEST_VERSION = 3
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[TopicData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 2 <= version <= 3:
            raise refuse_version("AlterPartitionRequest", version)
        o = _new(cls)
        try:
            left = most
            o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
            pos += 13
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > most:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(TopicData)
                    o1.topic_id, n = _u_uB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 14 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionData)
                            o2.partition_index, o2.leader_epoch = _u_ii(buf, pos)
                            pos += 8
                            if version <= 2:
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 4 > len(buf) - pos or n > most:
                                        raise refuse_count("new_isr", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("new_isr")
                                    if n < 16:
                                        o2.new_isr = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.new_isr = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("new_isr")
                            else:
                                o2.new_isr = []
                            if version >= 3:
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 13 > len(buf) - pos or n > most:
                                        raise refuse_count("new_isr_with_epochs", n, len(buf) - pos)
                                    left -= n
                                    if left < 0:
                                        raise refuse_total("new_isr_with_epochs")
                                    o2.new_isr_with_epochs = a2 = []
                                    for _ in range(n):
                                        o3 = _new(BrokerState)
                                        o3.broker_id, o3.broker_epoch, n = _u_iqB(buf, pos)
                                        pos += 13
                                        if n == 0:
                                            o3.unknown_tags = None
                                        else:
                                            n, pos = read_tag_count(buf, pos - 1)
                                            o3.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                        a2.append(o3)
                                else:
                                    raise refuse_null("new_isr_with_epochs")
                            else:
                                o2.new_isr_with_epochs = []
                            o2.leader_recovery_state, o2.partition_epoch, n = _u_biB(buf, pos)
                            pos += 6
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("partitions")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("topics")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterPartitionRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterPartitionRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 2 <= version <= 3:
            raise EncodeError(f"AlterPartitionRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_iq(o.broker_id, o.broker_epoch)
            n = len(o.topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topics:
                w += _p_u(o1.topic_id)
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partitions:
                    w += _p_ii(o2.partition_index, o2.leader_epoch)
                    if version <= 2:
                        n = len(o2.new_isr) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.new_isr)
                        else:
                            w += pack(f">{len(o2.new_isr)}i", *o2.new_isr)
                    elif len(o2.new_isr) != 0:
                        raise refuse_field("new_isr", version)
                    if version >= 3:
                        n = len(o2.new_isr_with_epochs) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for o3 in o2.new_isr_with_epochs:
                            w += _p_iq(o3.broker_id, o3.broker_epoch)
                            if o3.unknown_tags:
                                put_tags(w, {}, o3.unknown_tags)
                            else:
                                w.append(0)
                    elif len(o2.new_isr_with_epochs) != 0:
                        raise refuse_field("new_isr_with_epochs", version)
                    w += _p_bi(o2.leader_recovery_state, o2.partition_epoch)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AlterPartitionRequest v{version}: {error}") from error


class TopicData(Message):
    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionData(Message):
    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = FRESH,
        new_isr_with_epochs: list[BrokerState] = FRESH,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is FRESH else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is FRESH else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tags = unknown_tags


class BrokerState(Message):
    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags = unknown_tags
