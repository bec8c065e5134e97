"""Produce requests with batches that are checked in a thread before they are appended."""

from __future__ import annotations

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_produce import TP, only, produce, request
from tests.replication.node import NOW_MS, batch

BIG = bytes(range(256)) * 40  # more than HEAVY_RECOMPRESSED_BYTES


@pytest.fixture
def recompressing() -> Broker:
    broker = Broker({"compression.type": "zstd"})
    broker.node.create_topic(partitions=2)
    return broker


def test_a_batch_to_be_compressed_is_checked_in_a_thread(recompressing: Broker) -> None:
    broker = recompressing
    slow = produce(broker, request(batch(b"small"), batch(BIG)))
    quick = produce(broker, request(batch(b"small")))
    broker.node.end_turn()
    assert only(quick).base_offset == 0
    assert slow.is_waiting
    assert len(broker.validation.waiting) == 1
    broker.validation.finish()
    assert broker.wakes == 1
    broker.node.end_turn()
    (topic,) = slow.answer.responses
    assert [(p.index, p.error_code, p.base_offset) for p in topic.partition_responses] == [
        (0, 0, 1),
        (1, 0, 0),
    ]
    log = broker.node.log_manager.get(TopicPartition("t", 1))
    assert log is not None
    assert log.size_bytes < len(BIG)


def test_a_heavy_batch_that_is_refused(recompressing: Broker) -> None:
    records = batch(BIG)
    records[-1] ^= 1
    call = produce(recompressing, request(records))
    recompressing.validation.finish()
    assert only(call).error_code == ErrorCode.CORRUPT_MESSAGE


def test_the_topic_went_while_its_batch_was_checked(recompressing: Broker) -> None:
    call = produce(recompressing, request(batch(BIG)))
    recompressing.node.delete_topic(7)
    recompressing.validation.finish()
    assert only(call).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_log_append_time_is_that_of_the_append() -> None:
    broker = Broker({"log.message.timestamp.type": "LogAppendTime", "compression.type": "lz4"})
    broker.node.create_topic()
    call = produce(broker, request(batch(BIG)))
    broker.node.now_ms += 50
    broker.validation.finish()
    broker.node.end_turn()
    assert only(call).log_append_time_ms == NOW_MS + 50
    log = broker.node.log_manager.get(TP)
    assert log is not None
    assert log.offset_of_max_timestamp() == (0, NOW_MS + 50, 0)


def test_without_threads_it_is_checked_at_once(recompressing: Broker) -> None:
    recompressing.validation.is_stopped = True
    call = produce(recompressing, request(batch(BIG)))
    recompressing.node.end_turn()
    assert only(call).error_code == 0
