"""Request frames for the raw load, made alike for both servers."""

from __future__ import annotations

import os
import struct
import time
from typing import Any

from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.parts_writer import join_parts
from pykbroker.protocol.record_batch import LEADER_EPOCH_AT, build_batch

_CLIENT_ID = b"load"
_FETCH_LIMITS_BYTES = 4 + 4 + 4 + 4 + 1
"""Replica id, longest wait, least and most bytes, isolation."""
_MAGIC_WITHOUT_EPOCH = b"\xff\xff\xff\xff\x02"


def frame_of(message: Any, version: int) -> bytes:
    """Return the request as it is sent, with length and header."""
    parts: list[Any] = []
    message.encode(parts, version)
    header = struct.pack(">hhih", message.API_KEY, version, 0, len(_CLIENT_ID)) + _CLIENT_ID
    body = header + join_parts(parts)
    return struct.pack(">i", len(body)) + body


def produce(topic: str, record_bytes: int, records: int = 1, acks: int = -1) -> bytes:
    """Return a Produce v7 request with one batch."""
    now_ms = int(time.time() * 1000)
    value = os.urandom(record_bytes)
    batch = build_batch([(None, value, now_ms, []) for _ in range(records)])
    partition = PartitionProduceData(index=0, records=memoryview(batch))
    topics = [TopicProduceData(name=topic, partition_data=[partition])]
    return frame_of(ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics), 7)


def batch_at(frame: bytes) -> int:
    """Return the position of the record batch in a frame of `produce`."""
    at = frame.index(_MAGIC_WITHOUT_EPOCH)
    return at - LEADER_EPOCH_AT


def fetch(topic: str) -> bytes:
    """Return a Fetch v11 request, without a session, of the first batch of partition 0."""
    return _fetch(topic, session_epoch=-1, max_bytes=1, partition_max_bytes=1)


def session_fetch(topic: str) -> bytes:
    """Return a Fetch v11 request that makes a session, from the beginning of partition 0 on, with
    the limits of a Java consumer.
    """
    return _fetch(topic, session_epoch=0, max_bytes=50 << 20, partition_max_bytes=1 << 20)


def _fetch(topic: str, session_epoch: int, max_bytes: int, partition_max_bytes: int) -> bytes:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=partition_max_bytes)
    topics = [FetchTopic(topic=topic, partitions=[partition])]
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=max_bytes,
        session_epoch=session_epoch,
        topics=topics,
    )
    return frame_of(request, 11)


def session_at(frame: bytes) -> int:
    """Return the position of the session id, which its epoch follows, in a Fetch frame."""
    return frame.index(_CLIENT_ID) + len(_CLIENT_ID) + _FETCH_LIMITS_BYTES


def metadata(topic: str) -> bytes:
    """Return a Metadata v5 request for one topic."""
    topics = [MetadataRequestTopic(name=topic)]
    return frame_of(MetadataRequest(topics=topics, allow_auto_topic_creation=False), 5)
