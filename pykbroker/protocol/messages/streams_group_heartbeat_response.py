"""StreamsGroupHeartbeatResponse (response 88, versions 0-1).

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
    refuse_field,
    refuse_null,
    refuse_version,
    struct_error,
)

_new: Any = object.__new__
_u_HB = Struct(">HB").unpack_from
_u_bB = Struct(">bB").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ihB = Struct(">ihB").unpack_from
_u_ii = Struct(">ii").unpack_from
_u_q = Struct(">q").unpack_from
_p_o = Struct(">?").pack
_p_H = Struct(">H").pack
_p_b = Struct(">b").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack
_p_ii = Struct(">ii").pack
_p_q = Struct(">q").pack


class StreamsGroupHeartbeatResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "acceptable_recovery_lag_legacy",
        "task_offset_interval_ms",
        "acceptable_recovery_lag",
        "status",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "topology_description_required",
        "endpoint_information_epoch",
        "partitions_by_user_endpoint",
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
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag_legacy: int = 0,
        task_offset_interval_ms: int = 0,
        acceptable_recovery_lag: int = -1,
        status: list[Status] | None = FRESH,
        active_tasks: list[TaskIds] | None = None,
        standby_tasks: list[TaskIds] | None = None,
        warmup_tasks: list[TaskIds] | None = None,
        topology_description_required: bool = False,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag_legacy = acceptable_recovery_lag_legacy
        self.task_offset_interval_ms = task_offset_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.status = [] if status is FRESH else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.topology_description_required = topology_description_required
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 1:
            raise refuse_version("StreamsGroupHeartbeatResponse", version)
        o = _new(cls)
        try:
            o.throttle_time_ms, o.error_code, n = _u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = read_string_length(buf, pos - 1)
            if n > 0:
                e = pos + n - 1
                o.error_message = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.error_message = None
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
            o.member_epoch, o.heartbeat_interval_ms = _u_ii(buf, pos)
            pos += 8
            if version <= 0:
                (o.acceptable_recovery_lag_legacy,) = _u_i(buf, pos)
                pos += 4
            else:
                o.acceptable_recovery_lag_legacy = 0
            (o.task_offset_interval_ms,) = _u_i(buf, pos)
            pos += 4
            if version >= 1:
                (o.acceptable_recovery_lag,) = _u_q(buf, pos)
                pos += 8
            else:
                o.acceptable_recovery_lag = -1
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 3 > len(buf) - pos or n > 1000000:
                    raise refuse_count("status", n, len(buf) - pos)
                o.status = a = []
                for _ in range(n):
                    o1 = _new(Status)
                    o1.status_code, n = _u_bB(buf, pos)
                    pos += 2
                    if n > 127:
                        n, pos = read_string_length(buf, pos - 1)
                    if n > 0:
                        e = pos + n - 1
                        o1.status_detail = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        raise refuse_null("status_detail")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                o.status = None
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
                o.active_tasks = None
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
                o.standby_tasks = None
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
                o.warmup_tasks = None
            if version >= 1:
                o.topology_description_required = buf[pos] != 0
                pos += 1
            else:
                o.topology_description_required = False
            o.endpoint_information_epoch, n = _u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = read_length(buf, pos - 1)
            if n > 0:
                n -= 1
                if n * 7 > len(buf) - pos or n > 1000000:
                    raise refuse_count("partitions_by_user_endpoint", n, len(buf) - pos)
                o.partitions_by_user_endpoint = a = []
                for _ in range(n):
                    o1 = _new(EndpointToPartitions)
                    o1.user_endpoint, pos = _read_Endpoint(buf, pos, version)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("active_partitions", n, len(buf) - pos)
                        o1.active_partitions = a1 = []
                        for _ in range(n):
                            x, pos = _read_TopicPartition(buf, pos, version)
                            a1.append(x)
                    else:
                        raise refuse_null("active_partitions")
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_length(buf, pos - 1)
                    if n > 0:
                        n -= 1
                        if n * 3 > len(buf) - pos or n > 1000000:
                            raise refuse_count("standby_partitions", n, len(buf) - pos)
                        o1.standby_partitions = a1 = []
                        for _ in range(n):
                            x, pos = _read_TopicPartition(buf, pos, version)
                            a1.append(x)
                    else:
                        raise refuse_null("standby_partitions")
                    n = buf[pos]
                    pos += 1
                    if n == 0:
                        o1.unknown_tags = None
                    else:
                        n, pos = read_tag_count(buf, pos - 1)
                        o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                    a.append(o1)
            else:
                o.partitions_by_user_endpoint = None
            n = buf[pos]
            pos += 1
            if n == 0:
                o.unknown_tags = None
            else:
                n, pos = read_tag_count(buf, pos - 1)
                o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
        except (IndexError, struct_error) as error:
            raise DecodeError(f"StreamsGroupHeartbeatResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"StreamsGroupHeartbeatResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 1:
            raise EncodeError(f"StreamsGroupHeartbeatResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            w += _p_ih(o.throttle_time_ms, o.error_code)
            if o.error_message is None:
                w.append(0)
            else:
                s = o.error_message.encode()
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
            w += _p_ii(o.member_epoch, o.heartbeat_interval_ms)
            if version <= 0:
                w += _p_i(o.acceptable_recovery_lag_legacy)
            elif o.acceptable_recovery_lag_legacy != 0:
                raise refuse_field("acceptable_recovery_lag_legacy", version)
            w += _p_i(o.task_offset_interval_ms)
            if version >= 1:
                w += _p_q(o.acceptable_recovery_lag)
            if o.status is None:
                w.append(0)
            else:
                n = len(o.status) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.status:
                    s = o1.status_detail.encode()
                    w += _p_b(o1.status_code)
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
            if version >= 1:
                w += _p_o(o.topology_description_required)
            elif o.topology_description_required:
                raise refuse_field("topology_description_required", version)
            w += _p_i(o.endpoint_information_epoch)
            if o.partitions_by_user_endpoint is None:
                w.append(0)
            else:
                n = len(o.partitions_by_user_endpoint) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for o1 in o.partitions_by_user_endpoint:
                    _write_Endpoint(o1.user_endpoint, w, version)
                    n = len(o1.active_partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o1.active_partitions:
                        _write_TopicPartition(x, w, version)
                    n = len(o1.standby_partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for x in o1.standby_partitions:
                        _write_TopicPartition(x, w, version)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
            if o.unknown_tags:
                put_tags(w, {}, o.unknown_tags)
            else:
                w.append(0)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"StreamsGroupHeartbeatResponse v{version}: {error}") from error


class Status(Message):
    __slots__ = (
        "status_code",
        "status_detail",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        status_code: int = 0,
        status_detail: str = "",
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail
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


class EndpointToPartitions(Message):
    __slots__ = (
        "user_endpoint",
        "active_partitions",
        "standby_partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        user_endpoint: Endpoint = FRESH,
        active_partitions: list[TopicPartition] = FRESH,
        standby_partitions: list[TopicPartition] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.user_endpoint = Endpoint() if user_endpoint is FRESH else user_endpoint
        self.active_partitions = [] if active_partitions is FRESH else active_partitions
        self.standby_partitions = [] if standby_partitions is FRESH else standby_partitions
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


class TopicPartition(Message):
    __slots__ = (
        "topic",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is FRESH else partitions
        self.unknown_tags = unknown_tags


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


def _read_TopicPartition(buf: bytes | memoryview, pos: int, version: int) -> tuple[TopicPartition, int]:
    o = _new(TopicPartition)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_string_length(buf, pos - 1)
    if n > 0:
        e = pos + n - 1
        o.topic = str(buf[pos:e], "utf-8", "java")
        pos = e
    else:
        raise refuse_null("topic")
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


def _write_TopicPartition(o: TopicPartition, w: bytearray, version: int) -> None:
    s = o.topic.encode()
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
