"""LeaderChangeMessage (data, versions 0-1).

Generated from schemas/control/leader_change_message.txt by pykbroker.protocol.generate: do not edit.
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
_u_u = Struct(">16s").unpack_from
_u_hiB = Struct(">hiB").unpack_from
_u_i = Struct(">i").unpack_from
_p_u = Struct(">16s").pack
_p_hi = Struct(">hi").pack
_p_i = Struct(">i").pack


class LeaderChangeMessage(Message):
    __slots__ = (
        "version",
        "leader_id",
        "voters",
        "granting_voters",
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
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = FRESH,
        granting_voters: list[Voter] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is FRESH else voters
        self.granting_voters = [] if granting_voters is FRESH else granting_voters
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("LeaderChangeMessage", version)
        o = _new(cls)
        try:
            o.version, o.leader_id, n = _u_hiB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 5 > len(buf) - pos or n > 1000000:
                    raise refuse_count("voters", n, len(buf) - pos)
                o.voters = a = []
                for _ in range(n):
                    x, pos = _read_Voter(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("voters")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 5 > len(buf) - pos or n > 1000000:
                    raise refuse_count("granting_voters", n, len(buf) - pos)
                o.granting_voters = a = []
                for _ in range(n):
                    x, pos = _read_Voter(buf, pos, version)
                    a.append(x)
            else:
                raise refuse_null("granting_voters")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"LeaderChangeMessage v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"LeaderChangeMessage v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"LeaderChangeMessage has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_hi(o.version, o.leader_id)
            n = len(o.voters) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.voters:
                _write_Voter(x, w, version)
            n = len(o.granting_voters) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o.granting_voters:
                _write_Voter(x, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"LeaderChangeMessage v{version}: {error}") from error


class Voter(Message):
    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags = unknown_tags


def _read_Voter(buf: bytes | memoryview, pos: int, version: int) -> tuple[Voter, int]:
    o = _new(Voter)
    (o.voter_id,) = _u_i(buf, pos)
    pos += 4
    if version >= 1:
        (o.voter_directory_id,) = _u_u(buf, pos)
        pos += 16
    else:
        o.voter_directory_id = ZERO_UUID
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Voter(o: Voter, w: bytearray, version: int) -> None:
    w += _p_i(o.voter_id)
    if version >= 1:
        w += _p_u(o.voter_directory_id)
    elif o.voter_directory_id != ZERO_UUID:
        raise refuse_field("voter_directory_id", version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
