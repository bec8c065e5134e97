"""AddPartitionsToTxnRequest (request 24, versions 0-5).

Generated from schemas/api/add_partitions_to_txn.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tags,
    refuse_count,
    refuse_field,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_i = Struct(">i").unpack_from
_u_qhoB = Struct(">qh?B").unpack_from
_u_qhB = Struct(">qhB").unpack_from
_u_qhi = Struct(">qhi").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_qh = Struct(">qh").pack
_p_qho = Struct(">qh?").pack
_p_qhi = Struct(">qhi").pack


class AddPartitionsToTxnRequest(Message):
    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
        "unknown_tags",
    )

    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        transactions: list[AddPartitionsToTxnTransaction] = FRESH,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactions = [] if transactions is FRESH else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is FRESH else v3_and_below_topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("AddPartitionsToTxnRequest", version)
        o = _new(cls)
        try:
            left = most
            if version >= 3:
                if version >= 4:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 14 > len(buf) - pos or n > most:
                            raise refuse_count("transactions", n, len(buf) - pos)
                        o.transactions = a = []
                        for _ in range(n):
                            o1 = _new(AddPartitionsToTxnTransaction)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o1.transactional_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("transactional_id")
                            o1.producer_id, o1.producer_epoch, o1.verify_only, n = _u_qhoB(buf, pos)
                            pos += 12
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 3 > len(buf) - pos or n > most:
                                    raise refuse_count("topics", n, len(buf) - pos)
                                left -= n
                                if left < 0:
                                    raise refuse_total("topics")
                                o1.topics = a1 = []
                                for _ in range(n):
                                    x, pos, left = _read_AddPartitionsToTxnTopic(buf, pos, version, left)
                                    a1.append(x)
                            else:
                                raise refuse_null("topics")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        raise refuse_null("transactions")
                else:
                    o.transactions = []
                if version <= 3:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o.v3_and_below_transactional_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("v3_and_below_transactional_id")
                    o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, n = _u_qhB(buf, pos)
                    pos += 11
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > most:
                            raise refuse_count("v3_and_below_topics", n, len(buf) - pos)
                        o.v3_and_below_topics = a = []
                        for _ in range(n):
                            x, pos, left = _read_AddPartitionsToTxnTopic(buf, pos, version, left)
                            a.append(x)
                    else:
                        raise refuse_null("v3_and_below_topics")
                else:
                    o.v3_and_below_transactional_id = ""
                    o.v3_and_below_producer_id = 0
                    o.v3_and_below_producer_epoch = 0
                    o.v3_and_below_topics = []
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
                    o.v3_and_below_transactional_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("v3_and_below_transactional_id")
                o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, n = _u_qhi(buf, pos)
                pos += 14
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > most:
                        raise refuse_count("v3_and_below_topics", n, len(buf) - pos)
                    o.v3_and_below_topics = a = []
                    for _ in range(n):
                        x, pos, left = _read_AddPartitionsToTxnTopic(buf, pos, version, left)
                        a.append(x)
                else:
                    raise refuse_null("v3_and_below_topics")
                o.transactions = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AddPartitionsToTxnRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AddPartitionsToTxnRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"AddPartitionsToTxnRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                if version >= 4:
                    n = len(o.transactions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.transactions:
                        s = o1.transactional_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        w += _p_qho(o1.producer_id, o1.producer_epoch, o1.verify_only)
                        n = len(o1.topics) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for x in o1.topics:
                            _write_AddPartitionsToTxnTopic(x, w, version)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.transactions) != 0:
                    raise refuse_field("transactions", version)
                if version <= 3:
                    s = o.v3_and_below_transactional_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_qh(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch)
                    n = len(o.v3_and_below_topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.v3_and_below_topics:
                        _write_AddPartitionsToTxnTopic(x, w, version)
                elif o.v3_and_below_transactional_id != "":
                    raise refuse_field("v3_and_below_transactional_id", version)
                elif o.v3_and_below_producer_id != 0:
                    raise refuse_field("v3_and_below_producer_id", version)
                elif o.v3_and_below_producer_epoch != 0:
                    raise refuse_field("v3_and_below_producer_epoch", version)
                elif len(o.v3_and_below_topics) != 0:
                    raise refuse_field("v3_and_below_topics", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.transactions) != 0:
                    raise refuse_field("transactions", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                s = o.v3_and_below_transactional_id.encode()
                w += _p_h(len(s))
                w += s
                w += _p_qhi(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, len(o.v3_and_below_topics))
                for x in o.v3_and_below_topics:
                    _write_AddPartitionsToTxnTopic(x, w, version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AddPartitionsToTxnRequest v{version}: {error}") from error


class AddPartitionsToTxnTransaction(Message):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "verify_only",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class AddPartitionsToTxnTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _read_AddPartitionsToTxnTopic(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[AddPartitionsToTxnTopic, int, int]:
    o = _new(AddPartitionsToTxnTopic)
    if version >= 3:
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.name = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("name")
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            left -= n
            if left < 0:
                raise refuse_total("partitions")
            if n < 16:
                o.partitions = [*READ_INT32S[n](buf, pos)]
            else:
                o.partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("partitions")
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
            o.name = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("name")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            left -= n
            if left < 0:
                raise refuse_total("partitions")
            if n < 16:
                o.partitions = [*READ_INT32S[n](buf, pos)]
            else:
                o.partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("partitions")
        o.unknown_tags = None
    return o, pos, left


def _write_AddPartitionsToTxnTopic(o: AddPartitionsToTxnTopic, w: bytearray, version: int) -> None:
    if version >= 3:
        s = o.name.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o.partitions) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        if n < 17:
            w += PACK_INT32S[n - 1](*o.partitions)
        else:
            w += pack(f">{len(o.partitions)}i", *o.partitions)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.name.encode()
        w += _p_h(len(s))
        w += s
        w += _p_i(len(o.partitions))
        if len(o.partitions) < 16:
            w += PACK_INT32S[len(o.partitions)](*o.partitions)
        else:
            w += pack(f">{len(o.partitions)}i", *o.partitions)
