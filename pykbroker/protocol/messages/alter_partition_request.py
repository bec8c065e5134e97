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
    ZERO_UUID,
    put_tags,
    put_uvarint,
    read_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
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
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 2 <= version <= 3:
            raise refuse_version("AlterPartitionRequest", version)
        o = _new(cls)
        try:
            o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
            pos += 13
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 18 > len(buf) - pos or n > 1000000:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    x, pos = _read_TopicData(buf, pos, version)
                    a.append(x)
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
            for x in o.topics:
                _write_TopicData(x, w, version)
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


def _read_TopicData(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicData, int]:
    o = _new(TopicData)
    o.topic_id, n = _u_uB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 14 > len(buf) - pos or n > 1000000:
            raise refuse_count("partitions", n, len(buf) - pos)
        o.partitions = a = []
        for _ in range(n):
            x, pos = _read_PartitionData(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("partitions")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_TopicData(o: TopicData, w: bytearray, version: int) -> None:
    w += _p_u(o.topic_id)
    n = len(o.partitions) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.partitions:
        _write_PartitionData(x, w, version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_PartitionData(buf: bytes | memoryview, pos: int, version: int) -> tuple[PartitionData, int]:
    o = _new(PartitionData)
    o.partition_index, o.leader_epoch = _u_ii(buf, pos)
    pos += 8
    if version <= 2:
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("new_isr", n, len(buf) - pos)
            o.new_isr = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("new_isr")
    else:
        o.new_isr = []
    if version >= 3:
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 13 > len(buf) - pos or n > 1000000:
                raise refuse_count("new_isr_with_epochs", n, len(buf) - pos)
            o.new_isr_with_epochs = a = []
            for _ in range(n):
                x, pos = _read_BrokerState(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("new_isr_with_epochs")
    else:
        o.new_isr_with_epochs = []
    o.leader_recovery_state, o.partition_epoch, n = _u_biB(buf, pos)
    pos += 6
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_PartitionData(o: PartitionData, w: bytearray, version: int) -> None:
    w += _p_ii(o.partition_index, o.leader_epoch)
    if version <= 2:
        n = len(o.new_isr) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += pack(f">{len(o.new_isr)}i", *o.new_isr)
    elif len(o.new_isr) != 0:
        raise refuse_field("new_isr", version)
    if version >= 3:
        n = len(o.new_isr_with_epochs) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.new_isr_with_epochs:
            _write_BrokerState(x, w, version)
    elif len(o.new_isr_with_epochs) != 0:
        raise refuse_field("new_isr_with_epochs", version)
    w += _p_bi(o.leader_recovery_state, o.partition_epoch)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_BrokerState(buf: bytes | memoryview, pos: int, version: int) -> tuple[BrokerState, int]:
    o = _new(BrokerState)
    o.broker_id, o.broker_epoch, n = _u_iqB(buf, pos)
    pos += 13
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_BrokerState(o: BrokerState, w: bytearray, version: int) -> None:
    w += _p_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
