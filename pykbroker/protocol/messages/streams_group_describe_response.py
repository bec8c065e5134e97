"""StreamsGroupDescribeResponse (response 89, versions 0-1).

Generated from schemas/api/streams_group_describe.txt by pykbroker.protocol.generate: do not edit.
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
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_oB = Struct(">?B").unpack_from
_u_HB = Struct(">HB").unpack_from
_u_b = Struct(">b").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_iib = Struct(">iib").unpack_from
_u_iqB = Struct(">iqB").unpack_from
_p_o = Struct(">?").pack
_p_H = Struct(">H").pack
_p_b = Struct(">b").pack
_p_h = Struct(">h").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack
_p_iq = Struct(">iq").pack


class StreamsGroupDescribeResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tags",
    )

    API_KEY = 89
    MIN_VERSION = 0
    MAX_VERSION = 1
    LATEST_VERSION = 1
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is FRESH else groups
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("StreamsGroupDescribeResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 20 > len(buf) - pos or n > 1000000:
                    raise refuse_count("groups", n, len(buf) - pos)
                o.groups = a = []
                for _ in range(n):
                    o1 = _new(DescribedGroup)
                    o1.error_code, n = _u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.error_message = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o1.error_message = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.group_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("group_id")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.group_state = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("group_state")
                    o1.group_epoch, o1.assignment_epoch, n = _u_iib(buf, pos)
                    pos += 9
                    if n < 0:
                        o1.topology = None
                    else:
                        o1.topology, pos = _read_Topology(buf, pos, version)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 28 > len(buf) - pos or n > 1000000:
                            raise refuse_count("members", n, len(buf) - pos)
                        o1.members = a1 = []
                        for _ in range(n):
                            o2 = _new(Member)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.member_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("member_id")
                            o2.member_epoch, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.instance_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.instance_id = None
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.rack_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o2.rack_id = None
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.client_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("client_id")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.client_host = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("client_host")
                            o2.topology_epoch, n = _u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = read_string_length(buf, pos - 1)
                            if n > 0:
                                e = pos + n - 1
                                o2.process_id = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                raise refuse_null("process_id")
                            (n,) = _u_b(buf, pos)
                            pos += 1
                            if n < 0:
                                o2.user_endpoint = None
                            else:
                                o2.user_endpoint, pos = _read_Endpoint(buf, pos, version)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 3 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("client_tags", n, len(buf) - pos)
                                o2.client_tags = a2 = []
                                for _ in range(n):
                                    x, pos = _read_KeyValue(buf, pos, version)
                                    a2.append(x)
                            else:
                                raise refuse_null("client_tags")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 14 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("task_offsets", n, len(buf) - pos)
                                o2.task_offsets = a2 = []
                                for _ in range(n):
                                    x, pos = _read_TaskOffset(buf, pos, version)
                                    a2.append(x)
                            else:
                                raise refuse_null("task_offsets")
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_length(buf, pos - 1)
                            if n > 0:
                                n -= 1
                                if n * 14 > len(buf) - pos or n > 1000000:
                                    raise refuse_count("task_end_offsets", n, len(buf) - pos)
                                o2.task_end_offsets = a2 = []
                                for _ in range(n):
                                    x, pos = _read_TaskOffset(buf, pos, version)
                                    a2.append(x)
                            else:
                                raise refuse_null("task_end_offsets")
                            o2.assignment, pos = _read_Assignment(buf, pos, version)
                            o2.target_assignment, pos = _read_Assignment(buf, pos, version)
                            o2.is_classic, n = _u_oB(buf, pos)
                            pos += 2
                            if n == 0:
                                o2.unknown_tags = None
                            else:
                                n, pos = read_tag_count(buf, pos - 1)
                                o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                            a1.append(o2)
                    else:
                        raise refuse_null("members")
                    (o1.authorized_operations,) = _u_i(buf, pos)
                    pos += 4
                    if version >= 1:
                        (n,) = _u_b(buf, pos)
                        pos += 1
                        if n < 0:
                            o1.topology_description = None
                        else:
                            o1.topology_description, pos = _read_TopologyDescription(buf, pos, version)
                        o1.topology_description_status, n = _u_bB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.assignor_name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.assignor_name = None
                    else:
                        o1.topology_description = None
                        o1.topology_description_status = 0
                        o1.assignor_name = None
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                raise refuse_null("groups")
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupDescribeResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupDescribeResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"StreamsGroupDescribeResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_i(o.throttle_time_ms)
            n = len(o.groups) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for o1 in o.groups:
                w += _p_h(o1.error_code)
                if o1.error_message is None:
                    w.append(0)
                else:
                    s = o1.error_message.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                s = o1.group_id.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                s = o1.group_state.encode()
                n = len(s) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_string_length(w, n)
                w += s
                w += _p_ii(o1.group_epoch, o1.assignment_epoch)
                if o1.topology is None:
                    w.append(255)
                else:
                    w.append(1)
                    _write_Topology(o1.topology, w, version)
                n = len(o1.members) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o2 in o1.members:
                    s = o2.member_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_i(o2.member_epoch)
                    if o2.instance_id is None:
                        w.append(0)
                    else:
                        s = o2.instance_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if o2.rack_id is None:
                        w.append(0)
                    else:
                        s = o2.rack_id.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    s = o2.client_id.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o2.client_host.encode()
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    s = o2.process_id.encode()
                    w += _p_i(o2.topology_epoch)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    if o2.user_endpoint is None:
                        w.append(255)
                    else:
                        w.append(1)
                        _write_Endpoint(o2.user_endpoint, w, version)
                    n = len(o2.client_tags) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.client_tags:
                        _write_KeyValue(x, w, version)
                    n = len(o2.task_offsets) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.task_offsets:
                        _write_TaskOffset(x, w, version)
                    n = len(o2.task_end_offsets) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o2.task_end_offsets:
                        _write_TaskOffset(x, w, version)
                    _write_Assignment(o2.assignment, w, version)
                    _write_Assignment(o2.target_assignment, w, version)
                    w += _p_o(o2.is_classic)
                    if o2.unknown_tags:
                        put_tags(w, {}, o2.unknown_tags)
                    else:
                        w.append(0)
                w += _p_i(o1.authorized_operations)
                if version >= 1:
                    if o1.topology_description is None:
                        w.append(255)
                    else:
                        w.append(1)
                        _write_TopologyDescription(o1.topology_description, w, version)
                    w += _p_b(o1.topology_description_status)
                    if o1.assignor_name is None:
                        w.append(0)
                    else:
                        s = o1.assignor_name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                elif o1.topology_description is not None:
                    raise refuse_field("topology_description", version)
                elif o1.topology_description_status != 0:
                    raise refuse_field("topology_description_status", version)
                if o1.unknown_tags:
                    put_tags(w, {}, o1.unknown_tags)
                else:
                    w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupDescribeResponse v{version}: {error}") from error


class DescribedGroup(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "topology",
        "members",
        "authorized_operations",
        "topology_description",
        "topology_description_status",
        "assignor_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = FRESH,
        authorized_operations: int = -2147483648,
        topology_description: TopologyDescription | None = None,
        topology_description_status: int = 0,
        assignor_name: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = [] if members is FRESH else members
        self.authorized_operations = authorized_operations
        self.topology_description = topology_description
        self.topology_description_status = topology_description_status
        self.assignor_name = assignor_name
        self.unknown_tags = unknown_tags


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
        subtopologies: list[Subtopology] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
        self.unknown_tags = unknown_tags


class Subtopology(Message):
    __slots__ = (
        "subtopology_id",
        "source_topics",
        "repartition_sink_topics",
        "state_changelog_topics",
        "repartition_source_topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = FRESH,
        repartition_sink_topics: list[str] = FRESH,
        state_changelog_topics: list[TopicInfo] = FRESH,
        repartition_source_topics: list[TopicInfo] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is FRESH else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is FRESH else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is FRESH else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is FRESH else repartition_source_topics
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


class Member(Message):
    __slots__ = (
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "assignment",
        "target_assignment",
        "is_classic",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = FRESH,
        task_offsets: list[TaskOffset] = FRESH,
        task_end_offsets: list[TaskOffset] = FRESH,
        assignment: Assignment = FRESH,
        target_assignment: Assignment = FRESH,
        is_classic: bool = False,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is FRESH else client_tags
        self.task_offsets = [] if task_offsets is FRESH else task_offsets
        self.task_end_offsets = [] if task_end_offsets is FRESH else task_end_offsets
        self.assignment = Assignment() if assignment is FRESH else assignment
        self.target_assignment = Assignment() if target_assignment is FRESH else target_assignment
        self.is_classic = is_classic
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


class Assignment(Message):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        active_tasks: list[TaskIds] = FRESH,
        standby_tasks: list[TaskIds] = FRESH,
        warmup_tasks: list[TaskIds] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.active_tasks = [] if active_tasks is FRESH else active_tasks
        self.standby_tasks = [] if standby_tasks is FRESH else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is FRESH else warmup_tasks
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


def _read_Topology(buf: bytes | memoryview, pos: int, version: int) -> tuple[Topology, int]:
    o = _new(Topology)
    o.epoch, n = _u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 6 > len(buf) - pos or n > 1000000:
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
            if n == 0:
                o1.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            a.append(o1)
    else:
        o.subtopologies = None
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Topology(o: Topology, w: bytearray, version: int) -> None:
    w += _p_i(o.epoch)
    if o.subtopologies is None:
        w.append(0)
    else:
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
            n = len(o1.state_changelog_topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o1.state_changelog_topics:
                _write_TopicInfo(x, w, version)
            n = len(o1.repartition_source_topics) + 1
            if n < 128:
                w.append(n)
            else:
                put_uvarint(w, n)
            for x in o1.repartition_source_topics:
                _write_TopicInfo(x, w, version)
            if o1.unknown_tags:
                put_tags(w, {}, o1.unknown_tags)
            else:
                w.append(0)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


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


def _read_Assignment(buf: bytes | memoryview, pos: int, version: int) -> tuple[Assignment, int]:
    o = _new(Assignment)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("active_tasks", n, len(buf) - pos)
        o.active_tasks = a = []
        for _ in range(n):
            x, pos = _read_TaskIds(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("active_tasks")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("standby_tasks", n, len(buf) - pos)
        o.standby_tasks = a = []
        for _ in range(n):
            x, pos = _read_TaskIds(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("standby_tasks")
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("warmup_tasks", n, len(buf) - pos)
        o.warmup_tasks = a = []
        for _ in range(n):
            x, pos = _read_TaskIds(buf, pos, version)
            a.append(x)
    else:
        raise refuse_null("warmup_tasks")
    n = buf[pos]
    pos += 1
    if n == 0:
        o.unknown_tags = None
    else:
        n, pos = read_tag_count(buf, pos - 1)
        o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    return o, pos


def _write_Assignment(o: Assignment, w: bytearray, version: int) -> None:
    n = len(o.active_tasks) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.active_tasks:
        _write_TaskIds(x, w, version)
    n = len(o.standby_tasks) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.standby_tasks:
        _write_TaskIds(x, w, version)
    n = len(o.warmup_tasks) + 1
    if n < 128:
        w.append(n)
    else:
        put_uvarint(w, n)
    for x in o.warmup_tasks:
        _write_TaskIds(x, w, version)
    if o.unknown_tags:
        put_tags(w, {}, o.unknown_tags)
    else:
        w.append(0)


def _read_TaskIds(buf: bytes | memoryview, pos: int, version: int) -> tuple[TaskIds, int]:
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
    return o, pos


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


def _read_TopologyDescription(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopologyDescription, int]:
    o = _new(TopologyDescription)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_length(buf, pos - 1)
    if n > 0:
        n -= 1
        if n * 3 > len(buf) - pos or n > 1000000:
            raise refuse_count("subtopologies", n, len(buf) - pos)
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
                o1.nodes = a1 = []
                for _ in range(n):
                    x, pos = _read_TopologyDescriptionNode(buf, pos, version)
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
        o.global_stores = a = []
        for _ in range(n):
            o1 = _new(TopologyDescriptionGlobalStore)
            o1.source, pos = _read_TopologyDescriptionNode(buf, pos, version)
            o1.processor, pos = _read_TopologyDescriptionNode(buf, pos, version)
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
    return o, pos


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


def _read_TopologyDescriptionNode(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopologyDescriptionNode, int]:
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
    return o, pos


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
