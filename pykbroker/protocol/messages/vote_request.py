"""VoteRequest (request 52, versions 0-2).

Generated from schemas/api/vote.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
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
_u_uu = Struct(">16s16s").unpack_from
_u_i = Struct(">i").unpack_from
_u_iii = Struct(">iii").unpack_from
_u_iq = Struct(">iq").unpack_from
_p_uu = Struct(">16s16s").pack
_p_o = Struct(">?").pack
_p_i = Struct(">i").pack
_p_iii = Struct(">iii").pack
_p_iq = Struct(">iq").pack


class VoteRequest(Message):
    __slots__ = (
        "cluster_id",
        "voter_id",
        "topics",
        "unknown_tags",
    )

    API_KEY = 52
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[TopicData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("VoteRequest", version)
        o = _new(cls)
        try:
            left = most
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.cluster_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.cluster_id = None
            if version >= 1:
                (o.voter_id,) = _u_i(buf, pos)
                pos += 4
            else:
                o.voter_id = -1
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("topics", n, len(buf) - pos)
                o.topics = a = []
                for _ in range(n):
                    o1 = _new(TopicData)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.topic_name = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("topic_name")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 25 > len(buf) - pos or n > most:
                            raise refuse_count("partitions", n, len(buf) - pos)
                        left -= n
                        if left < 0:
                            raise refuse_total("partitions")
                        o1.partitions = a1 = []
                        for _ in range(n):
                            o2 = _new(PartitionData)
                            o2.partition_index, o2.replica_epoch, o2.replica_id = _u_iii(buf, pos)
                            pos += 12
                            if version >= 1:
                                o2.replica_directory_id, o2.voter_directory_id = _u_uu(buf, pos)
                                pos += 32
                            else:
                                o2.replica_directory_id = ZERO_UUID
                                o2.voter_directory_id = ZERO_UUID
                            o2.last_offset_epoch, o2.last_offset = _u_iq(buf, pos)
                            pos += 12
                            if version >= 2:
                                o2.pre_vote = buf[pos] != 0
                                pos += 1
                            else:
                                o2.pre_vote = False
                            n = buf[pos]
                            pos += 1
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
            raise DecodeError(f"VoteRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"VoteRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"VoteRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if o.cluster_id is None:
                w.append(0)
            else:
                s = o.cluster_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if version >= 1:
                w += _p_i(o.voter_id)
            n = len(o.topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.topics:
                s = o1.topic_name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o1.partitions) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.partitions:
                    w += _p_iii(o2.partition_index, o2.replica_epoch, o2.replica_id)
                    if version >= 1:
                        w += _p_uu(o2.replica_directory_id, o2.voter_directory_id)
                    w += _p_iq(o2.last_offset_epoch, o2.last_offset)
                    if version >= 2:
                        w += _p_o(o2.pre_vote)
                    elif o2.pre_vote:
                        raise refuse_field("pre_vote", version)
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
            raise EncodeError(f"VoteRequest v{version}: {error}") from error


class TopicData(Message):
    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[PartitionData] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class PartitionData(Message):
    __slots__ = (
        "partition_index",
        "replica_epoch",
        "replica_id",
        "replica_directory_id",
        "voter_directory_id",
        "last_offset_epoch",
        "last_offset",
        "pre_vote",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        voter_directory_id: bytes = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote
        self.unknown_tags = unknown_tags
