"""DescribeClusterRequest (request 60, versions 0-2).

Generated from schemas/api/describe_cluster.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_b = Struct(">b").unpack_from
_p_o = Struct(">?").pack
_p_b = Struct(">b").pack


class DescribeClusterRequest(Message):
    __slots__ = (
        "include_cluster_authorized_operations",
        "endpoint_type",
        "include_fenced_brokers",
        "unknown_tags",
    )

    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 2:
            raise refuse_version("DescribeClusterRequest", version)
        o = _new(cls)
        try:
            o.include_cluster_authorized_operations = buf[pos] != 0
            pos += 1
            if version >= 1:
                (o.endpoint_type,) = _u_b(buf, pos)
                pos += 1
            else:
                o.endpoint_type = 1
            if version >= 2:
                o.include_fenced_brokers = buf[pos] != 0
                pos += 1
            else:
                o.include_fenced_brokers = False
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"DescribeClusterRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"DescribeClusterRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 2:
            raise EncodeError(f"DescribeClusterRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_o(o.include_cluster_authorized_operations)
            if version >= 1:
                w += _p_b(o.endpoint_type)
            elif o.endpoint_type != 1:
                raise refuse_field("endpoint_type", version)
            if version >= 2:
                w += _p_o(o.include_fenced_brokers)
            elif o.include_fenced_brokers:
                raise refuse_field("include_fenced_brokers", version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"DescribeClusterRequest v{version}: {error}") from error
