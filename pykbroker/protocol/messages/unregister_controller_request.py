"""UnregisterControllerRequest (request 94, versions 0-0).

Generated from schemas/api/unregister_controller.txt by pykbroker.protocol.generate: do not edit.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Self

from pykbroker.protocol.parts_writer import Parts, open_tail
from pykbroker.protocol.primitives import (
    DecodeError,
    EncodeError,
    Message,
    put_tags,
    read_tag_count,
    read_unknown_tags,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_p_i = Struct(">i").pack


class UnregisterControllerRequest(Message):
    __slots__ = (
        "controller_id",
        "unknown_tags",
    )

    API_KEY = 94
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        controller_id: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.controller_id = controller_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("UnregisterControllerRequest", version)
        o = _new(cls)
        try:
            o.controller_id, n = _u_iB(buf, pos)
            pos += 5
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"UnregisterControllerRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"UnregisterControllerRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"UnregisterControllerRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.controller_id)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"UnregisterControllerRequest v{version}: {error}") from error
