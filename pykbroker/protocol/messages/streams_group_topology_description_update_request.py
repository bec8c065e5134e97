"""StreamsGroupTopologyDescriptionUpdateRequest (request 93, versions 0-0).

Generated from schemas/api/streams_group_topology_description_update.txt by pykbroker.protocol.generate: do not edit.
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
    put_string_length,
    put_tags,
    put_uvarint,
    read_length,
    read_string_length,
    read_tag_count,
    read_unknown_tags,
    refuse_count,
    refuse_null,
    refuse_total,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_bB = Struct(">bB").unpack_from
_u_i = Struct(">i").unpack_from
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack


class StreamsGroupTopologyDescriptionUpdateRequest(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "topology_epoch",
        "topology_description",
        "unknown_tags",
    )

    API_KEY = 93
    MIN_VERSION = 0
    MAX_VERSION = 0
    LATEST_VERSION = 0
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        topology_epoch: int = 0,
        topology_description: TopologyDescription = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.topology_epoch = topology_epoch
        self.topology_description = TopologyDescription() if topology_description is FRESH else topology_description
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 0:
            raise refuse_version("StreamsGroupTopologyDescriptionUpdateRequest", version)
        o = _new(cls)
        try:
            left = most
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.group_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("group_id")
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.member_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                raise refuse_null("member_id")
            (o.topology_epoch,) = _u_i(buf, pos)
            pos += 4
            o.topology_description, pos, left = _read_TopologyDescription(buf, pos, version, left)
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupTopologyDescriptionUpdateRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupTopologyDescriptionUpdateRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 0:
            raise EncodeError(f"StreamsGroupTopologyDescriptionUpdateRequest has no version {version}")
        w = open_tail(out)
        o = self
        try:
            s = o.group_id.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            s = o.member_id.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
            w += _p_i(o.topology_epoch)
            _write_TopologyDescription(o.topology_description, w, version)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupTopologyDescriptionUpdateRequest v{version}: {error}") from error


class TopologyDescription(Message):
    __slots__ = (
        "subtopologies",
        "global_stores",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopologies: list[TopologyDescriptionSubtopology] = FRESH,
        global_stores: list[TopologyDescriptionGlobalStore] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopologies = [] if subtopologies is FRESH else subtopologies
        self.global_stores = [] if global_stores is FRESH else global_stores
        self.unknown_tags = unknown_tags


class TopologyDescriptionSubtopology(Message):
    __slots__ = (
        "subtopology_id",
        "nodes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        nodes: list[TopologyDescriptionNode] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.nodes = [] if nodes is FRESH else nodes
        self.unknown_tags = unknown_tags


class TopologyDescriptionNode(Message):
    __slots__ = (
        "name",
        "node_type",
        "source_topics",
        "sink_topic",
        "stores",
        "successors",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        node_type: int = 0,
        source_topics: list[str] = FRESH,
        sink_topic: str | None = None,
        stores: list[str] = FRESH,
        successors: list[str] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.node_type = node_type
        self.source_topics = [] if source_topics is FRESH else source_topics
        self.sink_topic = sink_topic
        self.stores = [] if stores is FRESH else stores
        self.successors = [] if successors is FRESH else successors
        self.unknown_tags = unknown_tags


class TopologyDescriptionGlobalStore(Message):
    __slots__ = (
        "source",
        "processor",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source: TopologyDescriptionNode = FRESH,
        processor: TopologyDescriptionNode = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.source = TopologyDescriptionNode() if source is FRESH else source
        self.processor = TopologyDescriptionNode() if processor is FRESH else processor
        self.unknown_tags = unknown_tags


def _read_TopologyDescription(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[TopologyDescription, int, int]:
    o = _new(TopologyDescription)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("subtopologies", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("subtopologies")
        o.subtopologies = a = []
        for _ in range(n):
            o1 = _new(TopologyDescriptionSubtopology)
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
                if n * 7 > len(buf) - pos or n > 1000000:
                    raise refuse_count("nodes", n, len(buf) - pos)
                left -= n
                if left < 0:
                    raise refuse_total("nodes")
                o1.nodes = a1 = []
                for _ in range(n):
                    x, pos, left = _read_TopologyDescriptionNode(buf, pos, version, left)
                    a1.append(x)
            else:
                raise refuse_null("nodes")
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
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 15 > len(buf) - pos or n > 1000000:
            raise refuse_count("global_stores", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("global_stores")
        o.global_stores = a = []
        for _ in range(n):
            o1 = _new(TopologyDescriptionGlobalStore)
            o1.source, pos, left = _read_TopologyDescriptionNode(buf, pos, version, left)
            o1.processor, pos, left = _read_TopologyDescriptionNode(buf, pos, version, left)
            n = buf[pos]
            pos += 1
            if n == 0:
                o1.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            a.append(o1)
    else:
        raise refuse_null("global_stores")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos, left


def _write_TopologyDescription(o: TopologyDescription, w: bytearray, version: int) -> None:
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
        n = len(o1.nodes) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o1.nodes:
            _write_TopologyDescriptionNode(x, w, version)
        if o1.unknown_tags:
            put_tags(w, {}, o1.unknown_tags)
        else:
            w.append(0)
    n = len(o.global_stores) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for o1 in o.global_stores:
        _write_TopologyDescriptionNode(o1.source, w, version)
        _write_TopologyDescriptionNode(o1.processor, w, version)
        if o1.unknown_tags:
            put_tags(w, {}, o1.unknown_tags)
        else:
            w.append(0)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_TopologyDescriptionNode(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[TopologyDescriptionNode, int, int]:
    o = _new(TopologyDescriptionNode)
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
    o.node_type, n = _u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n > len(buf) - pos or n > 1000000:
            raise refuse_count("source_topics", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("source_topics")
        o.source_topics = a = []
        for _ in range(n):
            m = buf[pos]
            pos += 1
            if m > 127:
                m, pos = read_string_length(buf, pos - 1)
            if m <= 0:
                raise refuse_null("source_topics element")
            e = pos + m - 1
            a.append(str(buf[pos:e], "utf-8", "java"))
            pos = e
    else:
        raise refuse_null("source_topics")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.sink_topic = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        o.sink_topic = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n > len(buf) - pos or n > 1000000:
            raise refuse_count("stores", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("stores")
        o.stores = a = []
        for _ in range(n):
            m = buf[pos]
            pos += 1
            if m > 127:
                m, pos = read_string_length(buf, pos - 1)
            if m <= 0:
                raise refuse_null("stores element")
            e = pos + m - 1
            a.append(str(buf[pos:e], "utf-8", "java"))
            pos = e
    else:
        raise refuse_null("stores")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n > len(buf) - pos or n > 1000000:
            raise refuse_count("successors", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("successors")
        o.successors = a = []
        for _ in range(n):
            m = buf[pos]
            pos += 1
            if m > 127:
                m, pos = read_string_length(buf, pos - 1)
            if m <= 0:
                raise refuse_null("successors element")
            e = pos + m - 1
            a.append(str(buf[pos:e], "utf-8", "java"))
            pos = e
    else:
        raise refuse_null("successors")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos, left


def _write_TopologyDescriptionNode(o: TopologyDescriptionNode, w: bytearray, version: int) -> None:
    s = o.name.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_b(o.node_type)
    n = len(o.source_topics) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.source_topics:
        s = x.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
    if o.sink_topic is None:
        w.append(0)
    else:
        s = o.sink_topic.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
    n = len(o.stores) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.stores:
        s = x.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
    n = len(o.successors) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.successors:
        s = x.encode()
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
