"""TransactionLogValue (value 0, versions 0-1).

Generated from schemas/transaction/transaction_log.txt by pykbroker.protocol.generate: do not edit.
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
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_q = Struct(">q").unpack_from
_u_qhibB = Struct(">qhibB").unpack_from
_u_qhibi = Struct(">qhibi").unpack_from
_u_qq = Struct(">qq").unpack_from
_u_qqB = Struct(">qqB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_q = Struct(">q").pack
_p_qhib = Struct(">qhib").pack
_p_qq = Struct(">qq").pack


class TransactionLogValue(Message):
    __slots__ = (
        "producer_id",
        "previous_producer_id",
        "next_producer_id",
        "producer_epoch",
        "next_producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
        "client_transaction_version",
        "unknown_tags",
    )

    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 1

    def __init__(
        self,
        *,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = FRESH,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is FRESH else transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("TransactionLogValue", version)
        o = _new(cls)
        try:
            if version >= 1:
                o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status, n = _u_qhibB(buf, pos)
                pos += 16
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
                        raise refuse_count("transaction_partitions", n, len(buf) - pos)
                    o.transaction_partitions = a = []
                    for _ in range(n):
                        o1 = _new(PartitionsSchema)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 4 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_ids", n, len(buf) - pos)
                            if n < 16:
                                o1.partition_ids = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partition_ids = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
                        else:
                            raise refuse_null("partition_ids")
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    o.transaction_partitions = None
                o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms, n = _u_qqB(buf, pos)
                pos += 17
                o.previous_producer_id = -1
                o.next_producer_id = -1
                o.next_producer_epoch = -1
                o.client_transaction_version = 0
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    pos = _tags_TransactionLogValue(o, buf, pos, version, n)
            else:
                o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status, n = _u_qhibi(buf, pos)
                pos += 19
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("transaction_partitions", n, len(buf) - pos)
                    o.transaction_partitions = a = []
                    for _ in range(n):
                        o1 = _new(PartitionsSchema)
                        (n,) = _u_h(buf, pos)
                        pos += 2
                        if n >= 0:
                            e = pos + n
                            o1.topic = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("topic")
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 4 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partition_ids", n, len(buf) - pos)
                            if n < 16:
                                o1.partition_ids = [*READ_INT32S[n](buf, pos)]
                            else:
                                o1.partition_ids = list(unpack_from(f">{n}i", buf, pos))
                            pos += 4 * n
                        else:
                            raise refuse_null("partition_ids")
                        o1.unknown_tags = None
                        a.append(o1)
                else:
                    o.transaction_partitions = None
                o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms = _u_qq(buf, pos)
                pos += 16
                o.previous_producer_id = -1
                o.next_producer_id = -1
                o.next_producer_epoch = -1
                o.client_transaction_version = 0
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"TransactionLogValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"TransactionLogValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"TransactionLogValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 1:
                w += _p_qhib(o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status)
                if o.transaction_partitions is None:
                    w.append(0)
                else:
                    n = len(o.transaction_partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.transaction_partitions:
                        s = o1.topic.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        n = len(o1.partition_ids) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o1.partition_ids)
                        else:
                            w += pack(f">{len(o1.partition_ids)}i", *o1.partition_ids)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                w += _p_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
                if o.previous_producer_id != -1 or o.next_producer_id != -1 or o.next_producer_epoch != -1 or o.client_transaction_version != 0 or o.unknown_tags:
                    _put_tags_TransactionLogValue(o, w, version)
                else:
                    w.append(0)
            else:
                if o.previous_producer_id != -1:
                    raise refuse_field("previous_producer_id", version)
                if o.next_producer_id != -1:
                    raise refuse_field("next_producer_id", version)
                if o.next_producer_epoch != -1:
                    raise refuse_field("next_producer_epoch", version)
                if o.client_transaction_version != 0:
                    raise refuse_field("client_transaction_version", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_qhib(o.producer_id, o.producer_epoch, o.transaction_timeout_ms, o.transaction_status)
                if o.transaction_partitions is None:
                    w += b"\xff\xff\xff\xff"
                else:
                    w += _p_i(len(o.transaction_partitions))
                    for o1 in o.transaction_partitions:
                        if o1.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        s = o1.topic.encode()
                        w += _p_h(len(s))
                        w += s
                        w += _p_i(len(o1.partition_ids))
                        if len(o1.partition_ids) < 16:
                            w += PACK_INT32S[len(o1.partition_ids)](*o1.partition_ids)
                        else:
                            w += pack(f">{len(o1.partition_ids)}i", *o1.partition_ids)
                w += _p_qq(o.transaction_last_update_timestamp_ms, o.transaction_start_timestamp_ms)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"TransactionLogValue v{version}: {error}") from error


class PartitionsSchema(Message):
    __slots__ = (
        "topic",
        "partition_ids",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_ids: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partition_ids = [] if partition_ids is FRESH else partition_ids
        self.unknown_tags = unknown_tags


def _tags_TransactionLogValue(o: TransactionLogValue, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            (o.previous_producer_id,) = _u_q(buf, pos)
            pos += 8
        elif tag == 1:
            (o.next_producer_id,) = _u_q(buf, pos)
            pos += 8
        elif tag == 3:
            (o.next_producer_epoch,) = _u_h(buf, pos)
            pos += 2
        elif tag == 2:
            (o.client_transaction_version,) = _u_h(buf, pos)
            pos += 2
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_TransactionLogValue(o: TransactionLogValue, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if o.previous_producer_id != -1:
        known[0] = _p_q(o.previous_producer_id)
    if o.next_producer_id != -1:
        known[1] = _p_q(o.next_producer_id)
    if o.client_transaction_version != 0:
        known[2] = _p_h(o.client_transaction_version)
    if o.next_producer_epoch != -1:
        known[3] = _p_h(o.next_producer_epoch)
    put_tags(tail, known, o.unknown_tags)
