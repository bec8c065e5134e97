"""UpdateRaftVoterResponse (response 82, versions 0-0).

Generated from schemas/api/update_raft_voter.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tag,
    read_unknown_tags,
    read_uvarint,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack


class UpdateRaftVoterResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "current_leader",
        "unknown_tags",
    )

    API_KEY = 82
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = current_leader
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("UpdateRaftVoterResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            o.current_leader = None
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                pos = _tags_UpdateRaftVoterResponse(o, buf, pos, version, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UpdateRaftVoterResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UpdateRaftVoterResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"UpdateRaftVoterResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
            if o.current_leader is not None or o.unknown_tags:
                _put_tags_UpdateRaftVoterResponse(o, w, version)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UpdateRaftVoterResponse v{version}: {error}") from error


class CurrentLeader(Message):
    __slots__ = (
        "leader_id",
        "leader_epoch",
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags


def _tags_UpdateRaftVoterResponse(o: UpdateRaftVoterResponse, buf: bytes | memoryview, pos: int, version: int, count: int) -> int:
    o.unknown_tags = None
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        if tag == 0:
            o.current_leader, pos = _read_CurrentLeader(buf, pos, version)
        else:
            if o.unknown_tags is None:
                o.unknown_tags = {}
            o.unknown_tags[tag & 0xFFFFFFFF], pos = read_unknown_tag(buf, pos, size)
    return pos


def _put_tags_UpdateRaftVoterResponse(o: UpdateRaftVoterResponse, w: bytearray, version: int) -> None:
    known: dict[int, bytes] = {}
    tail = w
    if (o.current_leader is not None and o.current_leader != CurrentLeader()):
        w = bytearray()
        _write_CurrentLeader(o.current_leader, w, version)
        known[0] = bytes(w)
    put_tags(tail, known, o.unknown_tags)


def _read_CurrentLeader(buf: bytes | memoryview, pos: int, version: int) -> tuple[CurrentLeader, int]:
    o = _new(CurrentLeader)
    o.leader_id, o.leader_epoch, n = _u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.host = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("host")
    o.port, n = _u_iB(buf, pos)
    pos += 5
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_CurrentLeader(o: CurrentLeader, w: bytearray, version: int) -> None:
    s = o.host.encode()
    w += _p_ii(o.leader_id, o.leader_epoch)
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_i(o.port)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
