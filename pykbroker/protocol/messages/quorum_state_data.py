"""QuorumStateData (data, versions 0-1).

Generated from schemas/raft/quorum_state_data.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_u = Struct(">16s").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_iii = Struct(">iii").unpack_from
_u_qB = Struct(">qB").unpack_from
_p_u = Struct(">16s").pack
_p_i = Struct(">i").pack
_p_iii = Struct(">iii").pack
_p_q = Struct(">q").pack


class QuorumStateData(Message):
    __slots__ = (
        "cluster_id",
        "leader_id",
        "leader_epoch",
        "voted_id",
        "voted_directory_id",
        "applied_offset",
        "current_voters",
        "unknown_tags",
    )

    API_KEY = -1
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: bytes = ZERO_UUID,
        applied_offset: int = 0,
        current_voters: list[Voter] | None = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.applied_offset = applied_offset
        self.current_voters = [] if current_voters is FRESH else current_voters
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("QuorumStateData", version)
        o = _new(cls)
        try:
            if version <= 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.cluster_id = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("cluster_id")
            else:
                o.cluster_id = ""
            o.leader_id, o.leader_epoch, o.voted_id = _u_iii(buf, pos)
            pos += 12
            if version >= 1:
                (o.voted_directory_id,) = _u_u(buf, pos)
                pos += 16
            else:
                o.voted_directory_id = ZERO_UUID
            if version <= 0:
                o.applied_offset, n = _u_qB(buf, pos)
                pos += 9
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 5 > len(buf) - pos or n > 1000000:
                        raise refuse_count("current_voters", n, len(buf) - pos)
                    o.current_voters = a = []
                    for _ in range(n):
                        o1 = _new(Voter)
                        o1.voter_id, n = _u_iB(buf, pos)
                        pos += 5
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
                else:
                    o.current_voters = None
            else:
                o.applied_offset = 0
                o.current_voters = []
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"QuorumStateData v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"QuorumStateData v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"QuorumStateData has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version <= 0:
                s = o.cluster_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            elif o.cluster_id != "":
                raise refuse_field("cluster_id", version)
            w += _p_iii(o.leader_id, o.leader_epoch, o.voted_id)
            if version >= 1:
                w += _p_u(o.voted_directory_id)
            elif o.voted_directory_id != ZERO_UUID:
                raise refuse_field("voted_directory_id", version)
            if version <= 0:
                w += _p_q(o.applied_offset)
                if o.current_voters is None:
                    w.append(0)
                else:
                    n = len(o.current_voters) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o1 in o.current_voters:
                        w += _p_i(o1.voter_id)
                        if o1.unknown_tags:
                            put_tags(w, {}, o1.unknown_tags)
                        else:
                            w.append(0)
            elif o.applied_offset != 0:
                raise refuse_field("applied_offset", version)
            elif (o.current_voters is None or len(o.current_voters) != 0):
                raise refuse_field("current_voters", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"QuorumStateData v{version}: {error}") from error


class Voter(Message):
    __slots__ = (
        "voter_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.unknown_tags = unknown_tags
