"""AddPartitionsToTxnResponse (response 24, versions 0-5).

Generated from schemas/api/add_partitions_to_txn.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_i = Struct(">i").unpack_from
_u_ih = Struct(">ih").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ii = Struct(">ii").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack


class AddPartitionsToTxnResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results_by_transaction",
        "results_by_topic_v3_and_below",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = FRESH,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is FRESH else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is FRESH else results_by_topic_v3_and_below
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("AddPartitionsToTxnResponse", version)
        o = _new(cls)
        try:
            if version >= 3:
                (o.throttle_time_ms,) = _u_i(buf, pos)
                pos += 4
                if version >= 4:
                    o.error_code, n = _u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("results_by_transaction", n, len(buf) - pos)
                        o.results_by_transaction = a = []
                        for _ in range(n):
                            o1 = _new(AddPartitionsToTxnResult)
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
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 3 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("topic_results", n, len(buf) - pos)
                                o1.topic_results = a1 = []
                                for _ in range(n):
                                    x, pos = _read_AddPartitionsToTxnTopicResult(buf, pos, version)
                                    a1.append(x)
                            else:
                                raise refuse_null("topic_results")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o1.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a.append(o1)
                    else:
                        raise refuse_null("results_by_transaction")
                else:
                    o.error_code = 0
                    o.results_by_transaction = []
                if version <= 3:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("results_by_topic_v3_and_below", n, len(buf) - pos)
                        o.results_by_topic_v3_and_below = a = []
                        for _ in range(n):
                            x, pos = _read_AddPartitionsToTxnTopicResult(buf, pos, version)
                            a.append(x)
                    else:
                        raise refuse_null("results_by_topic_v3_and_below")
                else:
                    o.results_by_topic_v3_and_below = []
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.throttle_time_ms, n = _u_ii(buf, pos)
                pos += 8
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("results_by_topic_v3_and_below", n, len(buf) - pos)
                    o.results_by_topic_v3_and_below = a = []
                    for _ in range(n):
                        x, pos = _read_AddPartitionsToTxnTopicResult(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("results_by_topic_v3_and_below")
                o.error_code = 0
                o.results_by_transaction = []
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AddPartitionsToTxnResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AddPartitionsToTxnResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"AddPartitionsToTxnResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                w += _p_i(o.throttle_time_ms)
                if version >= 4:
                    w += _p_h(o.error_code)
                    n = len(o.results_by_transaction) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.results_by_transaction:
                        s = o1.transactional_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                        n = len(o1.topic_results) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        for x in o1.topic_results:
                            _write_AddPartitionsToTxnTopicResult(x, w, version)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
                elif len(o.results_by_transaction) != 0:
                    raise refuse_field("results_by_transaction", version)
                if version <= 3:
                    n = len(o.results_by_topic_v3_and_below) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o.results_by_topic_v3_and_below:
                        _write_AddPartitionsToTxnTopicResult(x, w, version)
                elif len(o.results_by_topic_v3_and_below) != 0:
                    raise refuse_field("results_by_topic_v3_and_below", version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if len(o.results_by_transaction) != 0:
                    raise refuse_field("results_by_transaction", version)
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_ii(o.throttle_time_ms, len(o.results_by_topic_v3_and_below))
                for x in o.results_by_topic_v3_and_below:
                    _write_AddPartitionsToTxnTopicResult(x, w, version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AddPartitionsToTxnResponse v{version}: {error}") from error


class AddPartitionsToTxnResult(Message):
    __slots__ = (
        "transactional_id",
        "topic_results",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is FRESH else topic_results
        self.unknown_tags = unknown_tags


class AddPartitionsToTxnTopicResult(Message):
    __slots__ = (
        "name",
        "results_by_partition",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is FRESH else results_by_partition
        self.unknown_tags = unknown_tags


class AddPartitionsToTxnPartitionResult(Message):
    __slots__ = (
        "partition_index",
        "partition_error_code",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        self.unknown_tags = unknown_tags


def _read_AddPartitionsToTxnTopicResult(buf: bytes | memoryview, pos: int, version: int) -> tuple[AddPartitionsToTxnTopicResult, int]:
    o = _new(AddPartitionsToTxnTopicResult)
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
            if n * 7 > len(buf) - pos or n > 1000000:
                raise refuse_count("results_by_partition", n, len(buf) - pos)
            o.results_by_partition = a = []
            for _ in range(n):
                o1 = _new(AddPartitionsToTxnPartitionResult)
                o1.partition_index, o1.partition_error_code, n = _u_ihB(buf, pos)
                pos += 7
                if n == 0:
                    o1.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                a.append(o1)
        else:
            raise refuse_null("results_by_partition")
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
            if n * 6 > len(buf) - pos or n > 1000000:
                raise refuse_count("results_by_partition", n, len(buf) - pos)
            o.results_by_partition = a = []
            for _ in range(n):
                o1 = _new(AddPartitionsToTxnPartitionResult)
                o1.partition_index, o1.partition_error_code = _u_ih(buf, pos)
                pos += 6
                o1.unknown_tags = None
                a.append(o1)
        else:
            raise refuse_null("results_by_partition")
        o.unknown_tags = None
    return o, pos


def _write_AddPartitionsToTxnTopicResult(o: AddPartitionsToTxnTopicResult, w: bytearray, version: int) -> None:
    if version >= 3:
        s = o.name.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o.results_by_partition) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for o1 in o.results_by_partition:
            w += _p_ih(o1.partition_index, o1.partition_error_code)
            if o1.unknown_tags:
                put_tags(w, {}, o1.unknown_tags)
            else:
                w.append(0)
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
        w += _p_i(len(o.results_by_partition))
        for o1 in o.results_by_partition:
            if o1.unknown_tags:
                raise refuse_field("unknown_tags", version)
            w += _p_ih(o1.partition_index, o1.partition_error_code)
