"""AlterReplicaLogDirsRequest (request 34, versions 1-2).

Generated from schemas/api/alter_replica_log_dirs.txt by pykbroker.protocol.generate: do not edit.
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
_u_i = Struct(">i").unpack_from
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack


class AlterReplicaLogDirsRequest(Message):
    __slots__ = (
        "dirs",
        "unknown_tags",
    )

    API_KEY = 34
    MIN_VERSION = 1
    MAX_VERSION = 2
    LATEST_VERSION = 2
    FLEXIBLE_FROM = 2

    def __init__(
        self,
        *,
        dirs: list[AlterReplicaLogDir] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.dirs = [] if dirs is FRESH else dirs
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 1 <= version <= 2:
            raise refuse_version("AlterReplicaLogDirsRequest", version)
        o = _new(cls)
        try:
            if version >= 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 3 > len(buf) - pos or n > 1000000:
                        raise refuse_count("dirs", n, len(buf) - pos)
                    o.dirs = a = []
                    for _ in range(n):
                        x, pos = _read_AlterReplicaLogDir(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("dirs")
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 6 > len(buf) - pos or n > 1000000:
                        raise refuse_count("dirs", n, len(buf) - pos)
                    o.dirs = a = []
                    for _ in range(n):
                        x, pos = _read_AlterReplicaLogDir(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("dirs")
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"AlterReplicaLogDirsRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"AlterReplicaLogDirsRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 1 <= version <= 2:
            raise EncodeError(f"AlterReplicaLogDirsRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 2:
                n = len(o.dirs) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.dirs:
                    _write_AlterReplicaLogDir(x, w, version)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                w += _p_i(len(o.dirs))
                for x in o.dirs:
                    _write_AlterReplicaLogDir(x, w, version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"AlterReplicaLogDirsRequest v{version}: {error}") from error


class AlterReplicaLogDir(Message):
    __slots__ = (
        "path",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.path = path
        self.topics = [] if topics is FRESH else topics
        self.unknown_tags = unknown_tags


class AlterReplicaLogDirTopic(Message):
    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


def _read_AlterReplicaLogDir(buf: bytes | memoryview, pos: int, version: int) -> tuple[AlterReplicaLogDir, int]:
    o = _new(AlterReplicaLogDir)
    if version >= 2:
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.path = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("path")
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 3 > len(buf) - pos or n > 1000000:
                raise refuse_count("topics", n, len(buf) - pos)
            o.topics = a = []
            for _ in range(n):
                x, pos = _read_AlterReplicaLogDirTopic(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("topics")
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
            o.path = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("path")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 6 > len(buf) - pos or n > 1000000:
                raise refuse_count("topics", n, len(buf) - pos)
            o.topics = a = []
            for _ in range(n):
                x, pos = _read_AlterReplicaLogDirTopic(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("topics")
        o.unknown_tags = None
    return o, pos


def _write_AlterReplicaLogDir(o: AlterReplicaLogDir, w: bytearray, version: int) -> None:
    if version >= 2:
        s = o.path.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o.topics) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.topics:
            _write_AlterReplicaLogDirTopic(x, w, version)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.path.encode()
        w += _p_h(len(s))
        w += s
        w += _p_i(len(o.topics))
        for x in o.topics:
            _write_AlterReplicaLogDirTopic(x, w, version)


def _read_AlterReplicaLogDirTopic(buf: bytes | memoryview, pos: int, version: int) -> tuple[AlterReplicaLogDirTopic, int]:
    o = _new(AlterReplicaLogDirTopic)
    if version >= 2:
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
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("partitions")
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
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("partitions")
        o.unknown_tags = None
    return o, pos


def _write_AlterReplicaLogDirTopic(o: AlterReplicaLogDirTopic, w: bytearray, version: int) -> None:
    if version >= 2:
        s = o.name.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        n = len(o.partitions) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += pack(f">{len(o.partitions)}i", *o.partitions)
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
        w += _p_i(len(o.partitions))
        w += pack(f">{len(o.partitions)}i", *o.partitions)
