"""Real frames of every API a node serves, and mutations of them."""

from __future__ import annotations

import random
import struct
import time
from typing import Any

from pykbroker.broker.handlers import make_routes
from pykbroker.protocol.api import request_class
from pykbroker.protocol.headers import encode_request
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.record_batch import build_batch

PRODUCE, FETCH, METADATA, OFFSET_COMMIT, JOIN_GROUP = 0, 1, 3, 8, 11
# What may change the cluster for good is left to its own tests: nothing is stored here but records.
NOT_HERE = frozenset((19, 20, 21, 33, 37, 44, 57))

EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def batch(value: bytes, codec: int = 0) -> bytes:
    """One batch with one record."""
    now_ms = int(time.time() * 1000)
    return bytes(build_batch([(b"key", value, now_ms, ())], base_offset=0, codec=codec))


def real_frames(topic: str, topic_id: bytes, value: bytes) -> list[bytes]:
    """Frames as clients send them: every served API in every version."""
    frames = []
    for route in make_routes():
        api = route.api
        if api.key in NOT_HERE:
            continue
        for version in range(api.min_version, api.max_version + 1):
            message = _message(api.key, version, topic, topic_id, value)
            out: Parts = []
            encode_request(api, version, 1, "fuzz", message, out)
            frames.append(join_parts(out))
    return frames


def _message(key: int, version: int, topic: str, topic_id: bytes, value: bytes) -> Any:
    if key == PRODUCE:
        codec = 3 if version >= 7 and version % 2 else 0
        part = PartitionProduceData(index=0, records=memoryview(batch(value, codec)))
        by_id = version >= 13
        data_of_topic = TopicProduceData(
            name="" if by_id else topic,
            topic_id=topic_id if by_id else bytes(16),
            partition_data=[part],
        )
        return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data_of_topic])
    if key == FETCH:
        part_to_fetch = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)
        fetched = FetchTopic(partitions=[part_to_fetch])
        if version >= 13:
            fetched.topic_id = topic_id
        else:
            fetched.topic = topic
        return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1000, topics=[fetched])
    if key == METADATA:
        topics = [MetadataRequestTopic(name=topic)]
        return MetadataRequest(topics=topics, allow_auto_topic_creation=True)
    if key == OFFSET_COMMIT:
        committed = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        of_topic = OffsetCommitRequestTopic(partitions=[committed])
        if version >= 10:
            of_topic.topic_id = topic_id
        else:
            of_topic.name = topic
        return OffsetCommitRequest(group_id="fuzz-commits", topics=[of_topic])
    if key == JOIN_GROUP:
        return JoinGroupRequest(
            group_id="fuzz-group",
            session_timeout_ms=6000,
            rebalance_timeout_ms=1000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\0\0\0\0\0")],
        )
    return request_class(key)()


def mutate(frame: bytes, rng: random.Random) -> bytes:
    """One to four things wrong with a frame; the length in front is often put right again."""
    body = bytearray(frame)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(8)
        at = rng.randrange(len(body)) if body else 0
        if kind == 0 and body:
            body[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and body:
            body[at] = rng.randrange(256)
        elif kind == 2:
            del body[at:]
        elif kind == 3:
            body[at:at] = rng.randbytes(rng.randint(1, 40))
        elif kind == 4 and len(body) > 8:
            struct.pack_into(">I", body, min(at, len(body) - 4), rng.choice(EDGES))
        elif kind == 5 and len(body) > 8:
            struct.pack_into(">H", body, min(at, len(body) - 2), rng.choice(EDGES) & 0xFFFF)
        elif kind == 6 and len(body) > 4:
            del body[at : at + rng.randint(1, 8)]
        elif kind == 7 and len(body) > 4:
            body[at:at] = body[at : at + rng.randint(1, 20)]
    if rng.random() < 0.7 and len(body) >= 4:
        struct.pack_into(">i", body, 0, len(body) - 4)
    return bytes(body)


def strangers(rng: random.Random) -> list[bytes]:
    """Bytes that never were Kafka's."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(500)
    return [
        hello,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /topics HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\0" * 100,
        b"\xff" * 100,
        b"{}\n",
        *(rng.randbytes(rng.randint(1, 2000)) for _ in range(20)),
        *(struct.pack(">i", size) + rng.randbytes(50) for size in
          (-1, 0, 1, 3, 9, 2**31 - 1, -(2**31), 104_857_600, 104_857_601, 1 << 20)),
    ]  # fmt: skip
