"""MetadataResponse (response 3, versions 0-13).

Generated from schemas/api/metadata.txt by pykbroker.protocol.generate: do not edit.
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
    ZERO_UUID,
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
_u_u = Struct(">16s").unpack_from
_u_oB = Struct(">?B").unpack_from
_u_h = Struct(">h").unpack_from
_u_hB = Struct(">hB").unpack_from
_u_hh = Struct(">hh").unpack_from
_u_hii = Struct(">hii").unpack_from
_u_hiiiB = Struct(">hiiiB").unpack_from
_u_i = Struct(">i").unpack_from
_u_iB = Struct(">iB").unpack_from
_u_ih = Struct(">ih").unpack_from
_p_u = Struct(">16s").pack
_p_o = Struct(">?").pack
_p_h = Struct(">h").pack
_p_hh = Struct(">hh").pack
_p_hii = Struct(">hii").pack
_p_hiii = Struct(">hiii").pack
_p_i = Struct(">i").pack
_p_ih = Struct(">ih").pack


class MetadataResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
        "unknown_tags",
    )

    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    LATEST_VERSION = 13
    FLEXIBLE_FROM = 9

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = FRESH,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = FRESH,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is FRESH else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is FRESH else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        self.unknown_tags = unknown_tags

    @classmethod
    def decode(cls, buf: bytes | memoryview, pos: int, version: int) -> tuple[Self, int]:
        if not 0 <= version <= 13:
            raise refuse_version("MetadataResponse", version)
        o = _new(cls)
        try:
            if version >= 9:
                o.throttle_time_ms, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 11 > len(buf) - pos or n > 1000000:
                        raise refuse_count("brokers", n, len(buf) - pos)
                    o.brokers = a = []
                    for _ in range(n):
                        x, pos = _read_MetadataResponseBroker(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("brokers")
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
                o.controller_id, n = _u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = read_length(buf, pos - 1)
                if n > 0:
                    n -= 1
                    if n * 10 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        x, pos = _read_MetadataResponseTopic(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("topics")
                if version <= 10:
                    (o.cluster_authorized_operations,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.cluster_authorized_operations = -2147483648
                if version >= 13:
                    (o.error_code,) = _u_h(buf, pos)
                    pos += 2
                else:
                    o.error_code = 0
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.unknown_tags = None
                else:
                    n, pos = read_tag_count(buf, pos - 1)
                    o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
            else:
                if version >= 3:
                    (o.throttle_time_ms,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.throttle_time_ms = 0
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 10 > len(buf) - pos or n > 1000000:
                        raise refuse_count("brokers", n, len(buf) - pos)
                    o.brokers = a = []
                    for _ in range(n):
                        x, pos = _read_MetadataResponseBroker(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("brokers")
                if version >= 2:
                    (n,) = _u_h(buf, pos)
                    pos += 2
                    if n >= 0:
                        e = pos + n
                        o.cluster_id = str(buf[pos:e], "utf-8", "java")
                        pos = e
                    else:
                        o.cluster_id = None
                else:
                    o.cluster_id = None
                if version >= 1:
                    (o.controller_id,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.controller_id = -1
                (n,) = _u_i(buf, pos)
                pos += 4
                if n >= 0:
                    if n * 8 > len(buf) - pos or n > 1000000:
                        raise refuse_count("topics", n, len(buf) - pos)
                    o.topics = a = []
                    for _ in range(n):
                        x, pos = _read_MetadataResponseTopic(buf, pos, version)
                        a.append(x)
                else:
                    raise refuse_null("topics")
                if version >= 8:
                    (o.cluster_authorized_operations,) = _u_i(buf, pos)
                    pos += 4
                else:
                    o.cluster_authorized_operations = -2147483648
                o.error_code = 0
                o.unknown_tags = None
        except (IndexError, struct_error) as error:
            raise DecodeError(f"MetadataResponse v{version} is cut short: {error}") from error
        if pos > len(buf):
            raise DecodeError(f"MetadataResponse v{version} is cut short")
        return o, pos

    def encode(self, out: Parts, version: int) -> None:
        if not 0 <= version <= 13:
            raise EncodeError(f"MetadataResponse has no version {version}")
        w = open_tail(out)
        o = self
        try:
            if version >= 9:
                w += _p_i(o.throttle_time_ms)
                n = len(o.brokers) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.brokers:
                    _write_MetadataResponseBroker(x, w, version)
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
                w += _p_i(o.controller_id)
                n = len(o.topics) + 1
                if n < 128:
                    w.append(n)
                else:
                    put_uvarint(w, n)
                for x in o.topics:
                    _write_MetadataResponseTopic(x, w, version)
                if version <= 10:
                    w += _p_i(o.cluster_authorized_operations)
                elif o.cluster_authorized_operations != -2147483648:
                    raise refuse_field("cluster_authorized_operations", version)
                if version >= 13:
                    w += _p_h(o.error_code)
                if o.unknown_tags:
                    put_tags(w, {}, o.unknown_tags)
                else:
                    w.append(0)
            else:
                if o.unknown_tags:
                    raise refuse_field("unknown_tags", version)
                if version >= 3:
                    w += _p_i(o.throttle_time_ms)
                w += _p_i(len(o.brokers))
                for x in o.brokers:
                    _write_MetadataResponseBroker(x, w, version)
                if version >= 2:
                    if o.cluster_id is None:
                        w += b"\xff\xff"
                    else:
                        s = o.cluster_id.encode()
                        w += _p_h(len(s))
                        w += s
                if version >= 1:
                    w += _p_i(o.controller_id)
                w += _p_i(len(o.topics))
                for x in o.topics:
                    _write_MetadataResponseTopic(x, w, version)
                if version >= 8:
                    w += _p_i(o.cluster_authorized_operations)
                elif o.cluster_authorized_operations != -2147483648:
                    raise refuse_field("cluster_authorized_operations", version)
        except (struct_error, TypeError, AttributeError, ValueError) as error:
            raise EncodeError(f"MetadataResponse v{version}: {error}") from error


class MetadataResponseBroker(Message):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags = unknown_tags


class MetadataResponseTopic(Message):
    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = FRESH,
        topic_authorized_operations: int = -2147483648,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is FRESH else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags = unknown_tags


class MetadataResponsePartition(Message):
    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = FRESH,
        isr_nodes: list[int] = FRESH,
        offline_replicas: list[int] = FRESH,
        unknown_tags: dict[int, bytes] | None = None,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is FRESH else replica_nodes
        self.isr_nodes = [] if isr_nodes is FRESH else isr_nodes
        self.offline_replicas = [] if offline_replicas is FRESH else offline_replicas
        self.unknown_tags = unknown_tags


def _read_MetadataResponseBroker(buf: bytes | memoryview, pos: int, version: int) -> tuple[MetadataResponseBroker, int]:
    o = _new(MetadataResponseBroker)
    if version >= 9:
        o.node_id, n = _u_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.host = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("host")
        o.port, n = _u_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.rack = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            o.rack = None
        n = buf[pos]
        pos += 1
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.node_id, n = _u_ih(buf, pos)
        pos += 6
        if n >= 0:
            e = pos + n
            o.host = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("host")
        (o.port,) = _u_i(buf, pos)
        pos += 4
        if version >= 1:
            (n,) = _u_h(buf, pos)
            pos += 2
            if n >= 0:
                e = pos + n
                o.rack = str(buf[pos:e], "utf-8", "java")
                pos = e
            else:
                o.rack = None
        else:
            o.rack = None
        o.unknown_tags = None
    return o, pos


def _write_MetadataResponseBroker(o: MetadataResponseBroker, w: bytearray, version: int) -> None:
    if version >= 9:
        s = o.host.encode()
        w += _p_i(o.node_id)
        n = len(s) + 1
        if n < 128:
            w.append(n)
        else:
            put_string_length(w, n)
        w += s
        w += _p_i(o.port)
        if o.rack is None:
            w.append(0)
        else:
            s = o.rack.encode()
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
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.host.encode()
        w += _p_ih(o.node_id, len(s))
        w += s
        w += _p_i(o.port)
        if version >= 1:
            if o.rack is None:
                w += b"\xff\xff"
            else:
                s = o.rack.encode()
                w += _p_h(len(s))
                w += s


def _read_MetadataResponseTopic(buf: bytes | memoryview, pos: int, version: int) -> tuple[MetadataResponseTopic, int]:
    o = _new(MetadataResponseTopic)
    if version >= 9:
        o.error_code, n = _u_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = read_string_length(buf, pos - 1)
        if n > 0:
            e = pos + n - 1
            o.name = str(buf[pos:e], "utf-8", "java")
            pos = e
        elif version >= 12:
            o.name = None
        else:
            raise refuse_null("name")
        if version >= 10:
            (o.topic_id,) = _u_u(buf, pos)
            pos += 16
        else:
            o.topic_id = ZERO_UUID
        o.is_internal, n = _u_oB(buf, pos)
        pos += 2
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 18 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_MetadataResponsePartition(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        o.topic_authorized_operations, n = _u_iB(buf, pos)
        pos += 5
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.error_code, n = _u_hh(buf, pos)
        pos += 4
        if n >= 0:
            e = pos + n
            o.name = str(buf[pos:e], "utf-8", "java")
            pos = e
        else:
            raise refuse_null("name")
        if version >= 1:
            o.is_internal = buf[pos] != 0
            pos += 1
        else:
            o.is_internal = False
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 18 > len(buf) - pos or n > 1000000:
                raise refuse_count("partitions", n, len(buf) - pos)
            o.partitions = a = []
            for _ in range(n):
                x, pos = _read_MetadataResponsePartition(buf, pos, version)
                a.append(x)
        else:
            raise refuse_null("partitions")
        if version >= 8:
            (o.topic_authorized_operations,) = _u_i(buf, pos)
            pos += 4
        else:
            o.topic_authorized_operations = -2147483648
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return o, pos


def _write_MetadataResponseTopic(o: MetadataResponseTopic, w: bytearray, version: int) -> None:
    if version >= 9:
        w += _p_h(o.error_code)
        if o.name is None:
            if not version >= 12:
                raise EncodeError("name is null")
            w.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            if n < 128:
                w.append(n)
            else:
                put_string_length(w, n)
            w += s
        if version >= 10:
            w += _p_u(o.topic_id)
        w += _p_o(o.is_internal)
        n = len(o.partitions) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        for x in o.partitions:
            _write_MetadataResponsePartition(x, w, version)
        w += _p_i(o.topic_authorized_operations)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        s = o.name.encode()
        w += _p_hh(o.error_code, len(s))
        w += s
        if version >= 1:
            w += _p_o(o.is_internal)
        w += _p_i(len(o.partitions))
        for x in o.partitions:
            _write_MetadataResponsePartition(x, w, version)
        if version >= 8:
            w += _p_i(o.topic_authorized_operations)
        elif o.topic_authorized_operations != -2147483648:
            raise refuse_field("topic_authorized_operations", version)


def _read_MetadataResponsePartition(buf: bytes | memoryview, pos: int, version: int) -> tuple[MetadataResponsePartition, int]:
    o = _new(MetadataResponsePartition)
    if version >= 9:
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch, n = _u_hiiiB(buf, pos)
        pos += 15
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("replica_nodes", n, len(buf) - pos)
            o.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("replica_nodes")
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("isr_nodes", n, len(buf) - pos)
            o.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("isr_nodes")
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_length(buf, pos - 1)
        if n > 0:
            n -= 1
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("offline_replicas", n, len(buf) - pos)
            o.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("offline_replicas")
        n = buf[pos]
        pos += 1
        if n == 0:
            o.unknown_tags = None
        else:
            n, pos = read_tag_count(buf, pos - 1)
            o.unknown_tags, pos = read_unknown_tags(buf, pos, n)
    else:
        o.error_code, o.partition_index, o.leader_id = _u_hii(buf, pos)
        pos += 10
        if version >= 7:
            (o.leader_epoch,) = _u_i(buf, pos)
            pos += 4
        else:
            o.leader_epoch = -1
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("replica_nodes", n, len(buf) - pos)
            o.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("replica_nodes")
        (n,) = _u_i(buf, pos)
        pos += 4
        if n >= 0:
            if n * 4 > len(buf) - pos or n > 1000000:
                raise refuse_count("isr_nodes", n, len(buf) - pos)
            o.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
            pos += 4 * n
        else:
            raise refuse_null("isr_nodes")
        if version >= 5:
            (n,) = _u_i(buf, pos)
            pos += 4
            if n >= 0:
                if n * 4 > len(buf) - pos or n > 1000000:
                    raise refuse_count("offline_replicas", n, len(buf) - pos)
                o.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise refuse_null("offline_replicas")
        else:
            o.offline_replicas = []
        o.unknown_tags = None
    return o, pos


def _write_MetadataResponsePartition(o: MetadataResponsePartition, w: bytearray, version: int) -> None:
    if version >= 9:
        w += _p_hiii(o.error_code, o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.replica_nodes) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += pack(f">{len(o.replica_nodes)}i", *o.replica_nodes)
        n = len(o.isr_nodes) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += pack(f">{len(o.isr_nodes)}i", *o.isr_nodes)
        n = len(o.offline_replicas) + 1
        if n < 128:
            w.append(n)
        else:
            put_uvarint(w, n)
        w += pack(f">{len(o.offline_replicas)}i", *o.offline_replicas)
        if o.unknown_tags:
            put_tags(w, {}, o.unknown_tags)
        else:
            w.append(0)
    else:
        if o.unknown_tags:
            raise refuse_field("unknown_tags", version)
        w += _p_hii(o.error_code, o.partition_index, o.leader_id)
        if version >= 7:
            w += _p_i(o.leader_epoch)
        w += _p_i(len(o.replica_nodes))
        w += pack(f">{len(o.replica_nodes)}i", *o.replica_nodes)
        w += _p_i(len(o.isr_nodes))
        w += pack(f">{len(o.isr_nodes)}i", *o.isr_nodes)
        if version >= 5:
            w += _p_i(len(o.offline_replicas))
            w += pack(f">{len(o.offline_replicas)}i", *o.offline_replicas)
