"""StreamsGroupTopologyValue (value 23, versions 0-0).

Generated from schemas/group_coordinator/streams_group_topology.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class StreamsGroupTopologyValue(Message):
    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tags",
    )

    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is FRESH else subtopologies
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("StreamsGroupTopologyValue", version)
        o = _new(cls)
        try:
            o.epoch, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 8 > len(buf) - pos or n > 1000000:
                    raise refuse_count("subtopologies", n, len(buf) - pos)
                o.subtopologies = a = []
                for _ in range(n):
                    o1 = _new(Subtopology)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.subtopology_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("subtopology_id")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > 1000000:
                            raise refuse_count("source_topics", n, len(buf) - pos)
                        o1.source_topics = a1 = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("source_topics element")
                            e = pos + m - 1
                            a1.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("source_topics")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > 1000000:
                            raise refuse_count("source_topic_regex", n, len(buf) - pos)
                        o1.source_topic_regex = a1 = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("source_topic_regex element")
                            e = pos + m - 1
                            a1.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("source_topic_regex")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 9 > len(buf) - pos or n > 1000000:
                            raise refuse_count("state_changelog_topics", n, len(buf) - pos)
                        o1.state_changelog_topics = a1 = []
                        for _ in range(n):
                            x, pos = _read_TopicInfo(buf, pos, version)
                            a1.append(x)
                    else:
                        raise refuse_null("state_changelog_topics")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n > len(buf) - pos or n > 1000000:
                            raise refuse_count("repartition_sink_topics", n, len(buf) - pos)
                        o1.repartition_sink_topics = a1 = []
                        for _ in range(n):
                            m = buf[pos]
                            pos += 1
                            if m > 127:
                                m, pos = read_string_length(buf, pos - 1)
                            if m <= 0:
                                raise refuse_null("repartition_sink_topics element")
                            e = pos + m - 1
                            a1.append(str(buf[pos:e], "utf-8", "java"))
                            pos = e
                    else:
                        raise refuse_null("repartition_sink_topics")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 9 > len(buf) - pos or n > 1000000:
                            raise refuse_count("repartition_source_topics", n, len(buf) - pos)
                        o1.repartition_source_topics = a1 = []
                        for _ in range(n):
                            x, pos = _read_TopicInfo(buf, pos, version)
                            a1.append(x)
                    else:
                        raise refuse_null("repartition_source_topics")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 4 > len(buf) - pos or n > 1000000:
                            raise refuse_count("copartition_groups", n, len(buf) - pos)
                        o1.copartition_groups = a1 = []
                        for _ in range(n):
                            o2 = _new(CopartitionGroup)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 2 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("source_topics", n, len(buf) - pos)
                                o2.source_topics = list(unpack_from(f">{n}h", buf, pos))
                                pos += 2 * n
                            else:
                                raise refuse_null("source_topics")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 2 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("source_topic_regex", n, len(buf) - pos)
                                o2.source_topic_regex = list(unpack_from(f">{n}h", buf, pos))
                                pos += 2 * n
                            else:
                                raise refuse_null("source_topic_regex")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 2 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("repartition_source_topics", n, len(buf) - pos)
                                o2.repartition_source_topics = list(unpack_from(f">{n}h", buf, pos))
                                pos += 2 * n
                            else:
                                raise refuse_null("repartition_source_topics")
                            n = buf[pos]
                            pos += 1
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("copartition_groups")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("subtopologies")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupTopologyValue v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupTopologyValue v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"StreamsGroupTopologyValue has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.epoch)
            n = len(o.subtopologies) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.subtopologies:
                s = o1.subtopology_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                n = len(o1.source_topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o1.source_topics:
                    s = x.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                n = len(o1.source_topic_regex) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o1.source_topic_regex:
                    s = x.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                n = len(o1.state_changelog_topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o1.state_changelog_topics:
                    _write_TopicInfo(x, w, version)
                n = len(o1.repartition_sink_topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o1.repartition_sink_topics:
                    s = x.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                n = len(o1.repartition_source_topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o1.repartition_source_topics:
                    _write_TopicInfo(x, w, version)
                n = len(o1.copartition_groups) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.copartition_groups:
                    n = len(o2.source_topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += pack(f">{len(o2.source_topics)}h", *o2.source_topics)
                    n = len(o2.source_topic_regex) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += pack(f">{len(o2.source_topic_regex)}h", *o2.source_topic_regex)
                    n = len(o2.repartition_source_topics) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    w += pack(f">{len(o2.repartition_source_topics)}h", *o2.repartition_source_topics)
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
            raise EncodeError(f"StreamsGroupTopologyValue v{version}: {error}") from error


class Subtopology(Message):
    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = FRESH,
        source_topic_regex: list[str] = FRESH,
        state_changelog_topics: list[TopicInfo] = FRESH,
        repartition_sink_topics: list[str] = FRESH,
        repartition_source_topics: list[TopicInfo] = FRESH,
        copartition_groups: list[CopartitionGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is FRESH else source_topics
        self.source_topic_regex = [] if source_topic_regex is FRESH else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is FRESH else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is FRESH else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is FRESH else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is FRESH else copartition_groups
        self.unknown_tags = unknown_tags


class TopicInfo(Message):
    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is FRESH else topic_configs
        self.unknown_tags = unknown_tags


class TopicConfig(Message):
    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags = unknown_tags


class CopartitionGroup(Message):
    __slots__ = (
        "source_topics",
        "source_topic_regex",
        "repartition_source_topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source_topics: list[int] = FRESH,
        source_topic_regex: list[int] = FRESH,
        repartition_source_topics: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.source_topics = [] if source_topics is FRESH else source_topics
        self.source_topic_regex = [] if source_topic_regex is FRESH else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is FRESH else repartition_source_topics
        self.unknown_tags = unknown_tags


def _read_TopicInfo(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicInfo, int]:
    o = _new(TopicInfo)
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
    o.partitions, o.replication_factor, n = _u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("topic_configs", n, len(buf) - pos)
        o.topic_configs = a = []
        for _ in range(n):
            o1 = _new(TopicConfig)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o1.key = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("key")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o1.value = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("value")
            n = buf[pos]
            pos += 1
            if n == 0:
                o1.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            a.append(o1)
    else:
        raise refuse_null("topic_configs")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_TopicInfo(o: TopicInfo, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_ih(o.partitions, o.replication_factor)
    n = len(o.topic_configs) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for o1 in o.topic_configs:
        s = o1.key.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        s = o1.value.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        if o1.unknown_tags:
            put_tags(w, {}, o1.unknown_tags)
        else:
            w.append(0)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
