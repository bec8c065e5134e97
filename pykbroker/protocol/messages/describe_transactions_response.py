"""DescribeTransactionsResponse (response 65, versions 0-0).

Generated from schemas/api/describe_transactions.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_hB = Struct(">hB").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iqqhB = Struct(">iqqhB").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_iqqh = Struct(">iqqh").pack


class DescribeTransactionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
        "unknown_tags",
    )

    API_KEY = 65
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is FRESH else transaction_states
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("DescribeTransactionsResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 28 > len(buf) - pos or n > 1000000:
                    raise refuse_count("transaction_states", n, len(buf) - pos)
                o.transaction_states = a = []
                for _ in range(n):
                    o1 = _new(TransactionState)
                    o1.error_code, n = _u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.transactional_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("transactional_id")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.transaction_state = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("transaction_state")
                    o1.transaction_timeout_ms, o1.transaction_start_time_ms, o1.producer_id, o1.producer_epoch, n = _u_iqqhB(buf, pos)
                    pos += 23
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("topics", n, len(buf) - pos)
                        o1.topics = a1 = []
                        for _ in range(n):
                            o2 = _new(TopicData)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.topic = str(buf[pos:e], "utf-8", "java")
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
                                    raise refuse_count("partitions", n, len(buf) - pos)
                                if n < 16:
                                    o2.partitions = [*READ_INT32S[n](buf, pos)]
                                else:
                                    o2.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise refuse_null("partitions")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
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
                raise refuse_null("transaction_states")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeTransactionsResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeTransactionsResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"DescribeTransactionsResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.throttle_time_ms)
            n = len(o.transaction_states) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.transaction_states:
                s = o1.transactional_id.encode()
                w += _p_h(o1.error_code)
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o1.transaction_state.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_iqqh(o1.transaction_timeout_ms, o1.transaction_start_time_ms, o1.producer_id, o1.producer_epoch)
                n = len(o1.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.topics:
                    s = o2.topic.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    n = len(o2.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    if n < 17:
                        w += PACK_INT32S[n - 1](*o2.partitions)
                    else:
                        w += pack(f">{len(o2.partitions)}i", *o2.partitions)
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
            raise EncodeError(f"DescribeTransactionsResponse v{version}: {error}") from error


class TransactionState(Message):
    __slots__ = (
        "error_code",
        "transactional_id",
        "transaction_state",
        "transaction_timeout_ms",
        "transaction_start_time_ms",
        "producer_id",
        "producer_epoch",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class TopicData(Message):
    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags
