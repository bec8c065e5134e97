"""ApiVersionsRequest (request 18, versions 0-5).

Generated from schemas/api/api_versions.txt by pykbroker.protocol.generate: do not edit.
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
    read_unknown_tags,
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_i = Struct(">i").unpack_from
_p_i = Struct(">i").pack


class ApiVersionsRequest(Message):
    __slots__ = (
        "client_software_name",
        "client_software_version",
        "cluster_id",
        "node_id",
        "unknown_tags",
    )

    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 5
    LATEST_VERSION = 5
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        *,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 5:
            raise refuse_version("ApiVersionsRequest", version)
        o = _new(cls)
        try:
            if version >= 3:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.client_software_name = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("client_software_name")
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_string_length(buf, pos - 1)
                if n > 0:
                    e = pos + n - 1
                    o.client_software_version = str(buf[pos:e], "utf-8", "java")
                    pos = e
                else:
                    raise refuse_null("client_software_version")
                if version >= 5:
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
                    (o.node_id,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.cluster_id = None
                    o.node_id = -1
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                o.client_software_name = ""
                o.client_software_version = ""
                o.cluster_id = None
                o.node_id = -1
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"ApiVersionsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"ApiVersionsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 5:
            raise EncodeError(f"ApiVersionsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 3:
                s = o.client_software_name.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o.client_software_version.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                if version >= 5:
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
                    w += _p_i(o.node_id)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"ApiVersionsRequest v{version}: {error}") from error
