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
    PACK_INT32S,
    READ_INT32S,
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
                        o1 = _new(MetadataResponseBroker)
                        o1.node_id, n = _u_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("host")
                        o1.port, n = _u_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.rack = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            o1.rack = None
                        n = buf[pos]
                        pos += 1
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
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
                        o1 = _new(MetadataResponseTopic)
                        o1.error_code, n = _u_hB(buf, pos)
                        pos += 3
                        if n > 127:
                            n, pos = read_string_length(buf, pos - 1)
                        if n > 0:
                            e = pos + n - 1
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        elif version >= 12:
                            o1.name = None
                        else:
                            raise refuse_null("name")
                        if version >= 10:
                            (o1.topic_id,) = _u_u(buf, pos)
                            pos += 16
                        else:
                            o1.topic_id = ZERO_UUID
                        o1.is_internal, n = _u_oB(buf, pos)
                        pos += 2
                        if n > 127:
                            n, pos = read_length(buf, pos - 1)
                        if n > 0:
                            n -= 1
                            if n * 18 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(MetadataResponsePartition)
                                o2.error_code, o2.partition_index, o2.leader_id, o2.leader_epoch, n = _u_hiiiB(buf, pos)
                                pos += 15
                                if n > 127:
                                    n, pos = read_length(buf, pos - 1)
                                if n > 0:
                                    n -= 1
                                    if n * 4 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("replica_nodes", n, len(buf) - pos)
                                    if n < 16:
                                        o2.replica_nodes = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
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
                                    if n < 16:
                                        o2.isr_nodes = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
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
                                    if n < 16:
                                        o2.offline_replicas = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("offline_replicas")
                                n = buf[pos]
                                pos += 1
                                if n == 0:
                                    o2.unknown_tags = None
                                else:
                                    n, pos = read_tag_count(buf, pos - 1)
                                    o2.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        o1.topic_authorized_operations, n = _u_iB(buf, pos)
                        pos += 5
                        if n == 0:
                            o1.unknown_tags = None
                        else:
                            n, pos = read_tag_count(buf, pos - 1)
                            o1.unknown_tags, pos = read_unknown_tags(buf, pos, n)
                        a.append(o1)
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
                        o1 = _new(MetadataResponseBroker)
                        o1.node_id, n = _u_ih(buf, pos)
                        pos += 6
                        if n >= 0:
                            e = pos + n
                            o1.host = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("host")
                        (o1.port,) = _u_i(buf, pos)
                        pos += 4
                        if version >= 1:
                            (n,) = _u_h(buf, pos)
                            pos += 2
                            if n >= 0:
                                e = pos + n
                                o1.rack = str(buf[pos:e], "utf-8", "java")
                                pos = e
                            else:
                                o1.rack = None
                        else:
                            o1.rack = None
                        o1.unknown_tags = None
                        a.append(o1)
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
                        o1 = _new(MetadataResponseTopic)
                        o1.error_code, n = _u_hh(buf, pos)
                        pos += 4
                        if n >= 0:
                            e = pos + n
                            o1.name = str(buf[pos:e], "utf-8", "java")
                            pos = e
                        else:
                            raise refuse_null("name")
                        if version >= 1:
                            o1.is_internal = buf[pos] != 0
                            pos += 1
                        else:
                            o1.is_internal = False
                        (n,) = _u_i(buf, pos)
                        pos += 4
                        if n >= 0:
                            if n * 18 > len(buf) - pos or n > 1000000:
                                raise refuse_count("partitions", n, len(buf) - pos)
                            o1.partitions = a1 = []
                            for _ in range(n):
                                o2 = _new(MetadataResponsePartition)
                                o2.error_code, o2.partition_index, o2.leader_id = _u_hii(buf, pos)
                                pos += 10
                                if version >= 7:
                                    (o2.leader_epoch,) = _u_i(buf, pos)
                                    pos += 4
                                else:
                                    o2.leader_epoch = -1
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    if n * 4 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("replica_nodes", n, len(buf) - pos)
                                    if n < 16:
                                        o2.replica_nodes = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("replica_nodes")
                                (n,) = _u_i(buf, pos)
                                pos += 4
                                if n >= 0:
                                    if n * 4 > len(buf) - pos or n > 1000000:
                                        raise refuse_count("isr_nodes", n, len(buf) - pos)
                                    if n < 16:
                                        o2.isr_nodes = [*READ_INT32S[n](buf, pos)]
                                    else:
                                        o2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                                    pos += 4 * n
                                else:
                                    raise refuse_null("isr_nodes")
                                if version >= 5:
                                    (n,) = _u_i(buf, pos)
                                    pos += 4
                                    if n >= 0:
                                        if n * 4 > len(buf) - pos or n > 1000000:
                                            raise refuse_count("offline_replicas", n, len(buf) - pos)
                                        if n < 16:
                                            o2.offline_replicas = [*READ_INT32S[n](buf, pos)]
                                        else:
                                            o2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                                        pos += 4 * n
                                    else:
                                        raise refuse_null("offline_replicas")
                                else:
                                    o2.offline_replicas = []
                                o2.unknown_tags = None
                                a1.append(o2)
                        else:
                            raise refuse_null("partitions")
                        if version >= 8:
                            (o1.topic_authorized_operations,) = _u_i(buf, pos)
                            pos += 4
                        else:
                            o1.topic_authorized_operations = -2147483648
                        o1.topic_id = ZERO_UUID
                        o1.unknown_tags = None
                        a.append(o1)
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
                for o1 in o.brokers:
                    s = o1.host.encode()
                    w += _p_i(o1.node_id)
                    n = len(s) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_string_length(w, n)
                    w += s
                    w += _p_i(o1.port)
                    if o1.rack is None:
                        w.append(0)
                    else:
                        s = o1.rack.encode()
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
                for o1 in o.topics:
                    w += _p_h(o1.error_code)
                    if o1.name is None:
                        if not version >= 12:
                            raise EncodeError("name is null")
                        w.append(0)
                    else:
                        s = o1.name.encode()
                        n = len(s) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_string_length(w, n)
                        w += s
                    if version >= 10:
                        w += _p_u(o1.topic_id)
                    w += _p_o(o1.is_internal)
                    n = len(o1.partitions) + 1
                    if n < 128:
                        w.append(n)
                    else:
                        put_uvarint(w, n)
                    for o2 in o1.partitions:
                        w += _p_hiii(o2.error_code, o2.partition_index, o2.leader_id, o2.leader_epoch)
                        n = len(o2.replica_nodes) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.replica_nodes)
                        else:
                            w += pack(f">{len(o2.replica_nodes)}i", *o2.replica_nodes)
                        n = len(o2.isr_nodes) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.isr_nodes)
                        else:
                            w += pack(f">{len(o2.isr_nodes)}i", *o2.isr_nodes)
                        n = len(o2.offline_replicas) + 1
                        if n < 128:
                            w.append(n)
                        else:
                            put_uvarint(w, n)
                        if n < 17:
                            w += PACK_INT32S[n - 1](*o2.offline_replicas)
                        else:
                            w += pack(f">{len(o2.offline_replicas)}i", *o2.offline_replicas)
                        if o2.unknown_tags:
                            put_tags(w, {}, o2.unknown_tags)
                        else:
                            w.append(0)
                    w += _p_i(o1.topic_authorized_operations)
                    if o1.unknown_tags:
                        put_tags(w, {}, o1.unknown_tags)
                    else:
                        w.append(0)
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
                for o1 in o.brokers:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.host.encode()
                    w += _p_ih(o1.node_id, len(s))
                    w += s
                    w += _p_i(o1.port)
                    if version >= 1:
                        if o1.rack is None:
                            w += b"\xff\xff"
                        else:
                            s = o1.rack.encode()
                            w += _p_h(len(s))
                            w += s
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
                for o1 in o.topics:
                    if o1.unknown_tags:
                        raise refuse_field("unknown_tags", version)
                    s = o1.name.encode()
                    w += _p_hh(o1.error_code, len(s))
                    w += s
                    if version >= 1:
                        w += _p_o(o1.is_internal)
                    w += _p_i(len(o1.partitions))
                    for o2 in o1.partitions:
                        if o2.unknown_tags:
                            raise refuse_field("unknown_tags", version)
                        w += _p_hii(o2.error_code, o2.partition_index, o2.leader_id)
                        if version >= 7:
                            w += _p_i(o2.leader_epoch)
                        w += _p_i(len(o2.replica_nodes))
                        if len(o2.replica_nodes) < 16:
                            w += PACK_INT32S[len(o2.replica_nodes)](*o2.replica_nodes)
                        else:
                            w += pack(f">{len(o2.replica_nodes)}i", *o2.replica_nodes)
                        w += _p_i(len(o2.isr_nodes))
                        if len(o2.isr_nodes) < 16:
                            w += PACK_INT32S[len(o2.isr_nodes)](*o2.isr_nodes)
                        else:
                            w += pack(f">{len(o2.isr_nodes)}i", *o2.isr_nodes)
                        if version >= 5:
                            w += _p_i(len(o2.offline_replicas))
                            if len(o2.offline_replicas) < 16:
                                w += PACK_INT32S[len(o2.offline_replicas)](*o2.offline_replicas)
                            else:
                                w += pack(f">{len(o2.offline_replicas)}i", *o2.offline_replicas)
                    if version >= 8:
                        w += _p_i(o1.topic_authorized_operations)
                    elif o1.topic_authorized_operations != -2147483648:
                        raise refuse_field("topic_authorized_operations", version)
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
