"""StreamsGroupHeartbeatRequest (request 88, versions 0-1).

Generated from schemas/api/streams_group_heartbeat.txt by pykbroker.protocol.generate: do not edit.
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
    PACK_INT32S,
    READ_INT32S,
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
_u_oB = Struct(">?B").unpack_from
_u_HB = Struct(">HB").unpack_from
_u_b = Struct(">b").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ib = Struct(">ib").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iiB = Struct(">iiB").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_o = Struct(">?").pack
_p_H = Struct(">H").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack
_p_iq = Struct(">iq").pack


class StreamsGroupHeartbeatRequest(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "endpoint_information_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "shutdown_application",
        "unknown_tags",
    )

    API_KEY = 88
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[TaskIds] | None = None,
        standby_tasks: list[TaskIds] | None = None,
        warmup_tasks: list[TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int, most: int = 1000000) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("StreamsGroupHeartbeatRequest", version)
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
            o.member_epoch, o.endpoint_information_epoch, n = _u_iiB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.instance_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.instance_id = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.rack_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.rack_id = None
            o.rebalance_timeout_ms, n = _u_ib(buf, pos)
            pos += 5
            if n < 0:
                o.topology = None
            else:
                o.topology, pos, left = _read_Topology(buf, pos, version, left)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("active_tasks", n, len(buf) - pos)
                o.active_tasks = a = []
                for _ in range(n):
                    x, pos, left = _read_TaskIds(buf, pos, version, left)
                    a.append(x)
            else:
                o.active_tasks = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("standby_tasks", n, len(buf) - pos)
                o.standby_tasks = a = []
                for _ in range(n):
                    x, pos, left = _read_TaskIds(buf, pos, version, left)
                    a.append(x)
            else:
                o.standby_tasks = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("warmup_tasks", n, len(buf) - pos)
                o.warmup_tasks = a = []
                for _ in range(n):
                    x, pos, left = _read_TaskIds(buf, pos, version, left)
                    a.append(x)
            else:
                o.warmup_tasks = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.process_id = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.process_id = None
            (n,) = _u_b(buf, pos)
            pos += 1
            if n < 0:
                o.user_endpoint = None
            else:
                o.user_endpoint, pos = _read_Endpoint(buf, pos, version)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > most:
                    raise refuse_count("client_tags", n, len(buf) - pos)
                o.client_tags = a = []
                for _ in range(n):
                    x, pos = _read_KeyValue(buf, pos, version)
                    a.append(x)
            else:
                o.client_tags = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 14 > len(buf) - pos or n > most:
                    raise refuse_count("task_offsets", n, len(buf) - pos)
                o.task_offsets = a = []
                for _ in range(n):
                    x, pos = _read_TaskOffset(buf, pos, version)
                    a.append(x)
            else:
                o.task_offsets = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 14 > len(buf) - pos or n > most:
                    raise refuse_count("task_end_offsets", n, len(buf) - pos)
                o.task_end_offsets = a = []
                for _ in range(n):
                    x, pos = _read_TaskOffset(buf, pos, version)
                    a.append(x)
            else:
                o.task_end_offsets = None
            o.shutdown_application, n = _u_oB(buf, pos)
            pos += 2
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupHeartbeatRequest v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupHeartbeatRequest v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"StreamsGroupHeartbeatRequest has no version {version}")
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
            w += _p_ii(o.member_epoch, o.endpoint_information_epoch)
            if o.instance_id is None:
                w.append(0)
            else:
                s = o.instance_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.rack_id is None:
                w.append(0)
            else:
                s = o.rack_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            w += _p_i(o.rebalance_timeout_ms)
            if o.topology is None:
                w.append(255)
            else:
                w.append(1)
                _write_Topology(o.topology, w, version)
            if o.active_tasks is None:
                w.append(0)
            else:
                n = len(o.active_tasks) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.active_tasks:
                    _write_TaskIds(x, w, version)
            if o.standby_tasks is None:
                w.append(0)
            else:
                n = len(o.standby_tasks) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.standby_tasks:
                    _write_TaskIds(x, w, version)
            if o.warmup_tasks is None:
                w.append(0)
            else:
                n = len(o.warmup_tasks) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.warmup_tasks:
                    _write_TaskIds(x, w, version)
            if o.process_id is None:
                w.append(0)
            else:
                s = o.process_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
            if o.user_endpoint is None:
                w.append(255)
            else:
                w.append(1)
                _write_Endpoint(o.user_endpoint, w, version)
            if o.client_tags is None:
                w.append(0)
            else:
                n = len(o.client_tags) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.client_tags:
                    _write_KeyValue(x, w, version)
            if o.task_offsets is None:
                w.append(0)
            else:
                n = len(o.task_offsets) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.task_offsets:
                    _write_TaskOffset(x, w, version)
            if o.task_end_offsets is None:
                w.append(0)
            else:
                n = len(o.task_end_offsets) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.task_end_offsets:
                    _write_TaskOffset(x, w, version)
            w += _p_o(o.shutdown_application)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupHeartbeatRequest v{version}: {error}") from error


class Topology(Message):
    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tags",
    )

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
        topic_configs: list[KeyValue] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is FRESH else topic_configs
        self.unknown_tags = unknown_tags


class KeyValue(Message):
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


class TaskIds(Message):
    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


class Endpoint(Message):
    __slots__ = (
        "host",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tags = unknown_tags


class TaskOffset(Message):
    __slots__ = (
        "subtopology_id",
        "partition",
        "offset",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        self.unknown_tags = unknown_tags


def _read_Topology(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[Topology, int, int]:
    o = _new(Topology)
    o.epoch, n = _u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 8 > len(buf) - pos or n > 1000000:
            raise refuse_count("subtopologies", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("subtopologies")
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
                left -= n
                if left < 0:
                    raise refuse_total("source_topics")
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
                left -= n
                if left < 0:
                    raise refuse_total("source_topic_regex")
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
                left -= n
                if left < 0:
                    raise refuse_total("state_changelog_topics")
                o1.state_changelog_topics = a1 = []
                for _ in range(n):
                    x, pos, left = _read_TopicInfo(buf, pos, version, left)
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
                left -= n
                if left < 0:
                    raise refuse_total("repartition_sink_topics")
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
                left -= n
                if left < 0:
                    raise refuse_total("repartition_source_topics")
                o1.repartition_source_topics = a1 = []
                for _ in range(n):
                    x, pos, left = _read_TopicInfo(buf, pos, version, left)
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
                left -= n
                if left < 0:
                    raise refuse_total("copartition_groups")
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
                        left -= n
                        if left < 0:
                            raise refuse_total("source_topics")
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
                        left -= n
                        if left < 0:
                            raise refuse_total("source_topic_regex")
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
                        left -= n
                        if left < 0:
                            raise refuse_total("repartition_source_topics")
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
    return o, pos, left


def _write_Topology(o: Topology, w: bytearray, version: int) -> None:
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


def _read_TopicInfo(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[TopicInfo, int, int]:
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
        left -= n
        if left < 0:
            raise refuse_total("topic_configs")
        o.topic_configs = a = []
        for _ in range(n):
            x, pos = _read_KeyValue(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("topic_configs")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos, left


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
    for x in o.topic_configs:
        _write_KeyValue(x, w, version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_KeyValue(buf: bytes | memoryview, pos: int, version: int) -> tuple[KeyValue, int]:
    o = _new(KeyValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.key = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("key")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.value = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("value")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_KeyValue(o: KeyValue, w: bytearray, version: int) -> None:
    s = o.key.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    s = o.value.encode()
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


def _read_TaskIds(buf: bytes | memoryview, pos: int, version: int, left: int) -> tuple[TaskIds, int, int]:
    o = _new(TaskIds)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.subtopology_id = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("subtopology_id")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 4 > len(buf) - pos or n > 1000000:
            raise refuse_count("partitions", n, len(buf) - pos)
        left -= n
        if left < 0:
            raise refuse_total("partitions")
        if n < 16:
            o.partitions = [*READ_INT32S[n](buf, pos)]
        else:
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
    return o, pos, left


def _write_TaskIds(o: TaskIds, w: bytearray, version: int) -> None:
    s = o.subtopology_id.encode()
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
    if n < 17:
        w += PACK_INT32S[n - 1](*o.partitions)
    else:
        w += pack(f">{len(o.partitions)}i", *o.partitions)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_Endpoint(buf: bytes | memoryview, pos: int, version: int) -> tuple[Endpoint, int]:
    o = _new(Endpoint)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.host = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("host")
    o.port, n = _u_HB(buf, pos)
    pos += 3
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Endpoint(o: Endpoint, w: bytearray, version: int) -> None:
    s = o.host.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_H(o.port)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_TaskOffset(buf: bytes | memoryview, pos: int, version: int) -> tuple[TaskOffset, int]:
    o = _new(TaskOffset)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.subtopology_id = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("subtopology_id")
    o.partition, o.offset, n = _u_iqB(buf, pos)
    pos += 13
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_TaskOffset(o: TaskOffset, w: bytearray, version: int) -> None:
    s = o.subtopology_id.encode()
    n = len(s) + 1
    if n < 128:
        w.append(n)
    else:
        put_string_length(w, n)
    w += s
    w += _p_iq(o.partition, o.offset)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)
