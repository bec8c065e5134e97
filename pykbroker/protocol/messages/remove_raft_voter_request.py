"""RemoveRaftVoterRequest (request 81, versions 0-0).

Generated from schemas/api/remove_raft_voter.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    ZERO_UUID,
    put_string_length,
    put_tags,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iuB = Struct(">i16sB").unpack_from
_p_iu = Struct(">i16s").pack


class RemoveRaftVoterRequest(Message):
    __slots__ = (
        "cluster_id",
        "voter_id",
        "voter_directory_id",
        "unknown_tags",
    )

    API_KEY = 81
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("RemoveRaftVoterRequest", version)
        o = _new(cls)
        try:
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
            o.voter_id, o.voter_directory_id, n = _u_iuB(buf, pos)
            pos += 21
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"RemoveRaftVoterRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"RemoveRaftVoterRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"RemoveRaftVoterRequest has no version {version}")
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
            w += _p_iu(o.voter_id, o.voter_directory_id)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"RemoveRaftVoterRequest v{version}: {error}") from error
