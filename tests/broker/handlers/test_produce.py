"""Produce: what each request gets, in which version."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.produce import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.produce_response import PartitionProduceResponse
from pykbroker.protocol.record_batch import RECORD_BATCH_OVERHEAD
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import NOW_MS, batch, topic_id_of

VERSIONS = range(3, 14)
TP = TopicPartition("t", 0)


def request(
    *records: Any,
    acks: int = -1,
    topic: str = "t",
    topic_id: bytes = topic_id_of(7),
    transactional_id: str | None = None,
    timeout_ms: int = 1000,
) -> ProduceRequest:
    """One batch (or None) for each partition from 0 on."""
    return ProduceRequest(
        acks=acks,
        transactional_id=transactional_id,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic,
                topic_id=topic_id,
                partition_data=[
                    PartitionProduceData(index=i, records=r) for i, r in enumerate(records)
                ],
            )
        ],
    )


def produce(broker: Broker, message: ProduceRequest, version: int = 13, **options: Any) -> Call:
    return Call(broker, HANDLER, message, version, **options)


def only(call: Call) -> PartitionProduceResponse:
    (topic,) = call.answer.responses
    partition: PartitionProduceResponse
    (partition,) = topic.partition_responses
    return partition


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.node.create_topic(partitions=2)
    return broker


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [1, -1])
def test_the_answer_comes_at_the_turns_end(broker: Broker, version: int, acks: int) -> None:
    call = produce(broker, request(batch(b"a", b"b"), acks=acks), version)
    assert call.is_waiting
    broker.node.end_turn()
    reply = only(call)
    assert (reply.index, reply.error_code, reply.base_offset) == (0, 0, 0)
    assert (reply.log_append_time_ms, reply.log_start_offset) == (-1, 0 if version >= 5 else -1)
    topic = call.answer.responses[0]
    assert (topic.name, topic.topic_id) == (
        ("", topic_id_of(7)) if version >= 13 else ("t", bytes(16))
    )
    assert broker.counters.messages_in == 2
    again = produce(broker, request(batch(), acks=acks), version)
    broker.node.end_turn()
    assert only(again).base_offset == 2


def test_acks_0_has_no_reply(broker: Broker) -> None:
    call = produce(broker, request(batch(), acks=0))
    broker.node.end_turn()
    assert call.answer is None
    partition = broker.node.manager.find(*TP)
    assert partition is not None
    assert partition.high_watermark == 1


def test_an_error_with_acks_0_closes_the_connection(broker: Broker) -> None:
    assert isinstance(produce(broker, request(None, acks=0)).answer, CloseConnection)
    unknown = request(batch(), acks=0, topic_id=topic_id_of(99))
    assert isinstance(produce(broker, unknown).answer, CloseConnection)
    broken = produce(broker, request(batch(), acks=0))
    broker.node.fail_writes()
    broker.node.end_turn()
    assert isinstance(broken.answer, CloseConnection)


@pytest.mark.parametrize("acks", [2, -2, 100])
def test_other_acks_append_nothing(broker: Broker, acks: int) -> None:
    call = produce(broker, request(batch(), None, batch(), acks=acks))
    replies = call.answer.responses[0].partition_responses
    assert [(reply.error_code, reply.base_offset) for reply in replies] == [
        (ErrorCode.INVALID_REQUIRED_ACKS, -1),
        (ErrorCode.INVALID_RECORD, -1),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1),
    ]
    unknown = request(batch(), topic_id=topic_id_of(99), acks=acks)
    assert only(produce(broker, unknown)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    broker.node.end_turn()
    assert broker.node.manager.partition(TP).log.log_end_offset == 0


def test_errors_are_per_partition(broker: Broker) -> None:
    call = produce(broker, request(batch(), None, batch()))
    broker.node.end_turn()
    replies = call.answer.responses[0].partition_responses
    assert [r.error_code for r in replies] == [
        0,
        ErrorCode.INVALID_RECORD,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert [r.base_offset for r in replies] == [0, -1, -1]
    assert (broker.counters.total_produce_requests, broker.counters.failed_produce_requests) == (
        1,
        2,
    )


def cut(size: int) -> memoryview:
    return batch()[:size]


def with_magic(magic: int) -> memoryview:
    changed = bytearray(batch())
    changed[16] = magic
    return memoryview(changed)


def with_length(length: int) -> memoryview:
    changed = bytearray(batch())
    changed[8:12] = length.to_bytes(4, "big", signed=True)
    return memoryview(changed)


@pytest.mark.parametrize(
    "records, code",
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (cut(11), ErrorCode.INVALID_RECORD),
        (cut(RECORD_BATCH_OVERHEAD - 1), ErrorCode.INVALID_RECORD),
        (cut(RECORD_BATCH_OVERHEAD), ErrorCode.INVALID_RECORD),
        (with_magic(1), ErrorCode.INVALID_RECORD),
        (with_magic(3), ErrorCode.CORRUPT_MESSAGE),
        (with_length(13), ErrorCode.CORRUPT_MESSAGE),
        (with_length(-1), ErrorCode.CORRUPT_MESSAGE),
        (with_length(1 << 30), ErrorCode.INVALID_RECORD),
        (bytes(batch()) + bytes(batch()), ErrorCode.INVALID_RECORD),
        (batch(is_transactional=True), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    ],
)
def test_what_is_not_one_batch(broker: Broker, records: Any, code: int) -> None:
    reply = only(produce(broker, request(records)))
    assert (reply.error_code, reply.base_offset) == (code, -1)
    assert (reply.error_message is None) is (code != ErrorCode.CORRUPT_MESSAGE)


@pytest.mark.parametrize(
    "records, code, message",
    [
        (
            with_length(13),
            ErrorCode.CORRUPT_MESSAGE,
            "Record size 13 is less than the minimum record overhead (14)",
        ),
        (with_magic(255), ErrorCode.CORRUPT_MESSAGE, "Invalid magic found in record: -1"),
        (
            batch(is_transactional=True),
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            None,
        ),
    ],
)
def test_one_batch_can_rule_out_the_request(
    broker: Broker, records: Any, code: int, message: str | None
) -> None:
    call = produce(broker, request(batch(), None, batch(), records))
    replies = call.answer.responses[0].partition_responses
    assert [(r.index, r.error_code, r.error_message) for r in replies] == [
        (index, code, message) for index in range(4)
    ]
    for acks in (1, 5):
        alone = only(produce(broker, request(records, topic_id=topic_id_of(99), acks=acks)))
        assert (alone.error_code, alone.error_message) == (code, message)
    broker.node.end_turn()
    assert broker.node.manager.partition(TP).log.log_end_offset == 0


def test_what_follows_a_batch_and_is_none_counts_for_its_partition_alone(broker: Broker) -> None:
    call = produce(broker, request(bytes(batch()) + bytes(12), batch()))
    short = produce(broker, request(with_length(14), batch()))
    broker.node.end_turn()
    for each in (call, short):
        replies = each.answer.responses[0].partition_responses
        assert [r.error_code for r in replies] == [ErrorCode.CORRUPT_MESSAGE, 0]
        assert replies[0].error_message is None


def test_a_topic_without_partitions_is_left_out(broker: Broker) -> None:
    assert produce(broker, request()).answer.responses == []
    assert produce(broker, request(acks=5)).answer.responses == []


@pytest.mark.parametrize("rest", [b"\0", bytes(11), bytes(batch())[:30]])
def test_bytes_after_the_batch_that_are_no_batch_are_dropped(broker: Broker, rest: bytes) -> None:
    call = produce(broker, request(bytes(batch()) + rest))
    broker.node.end_turn()
    assert (only(call).error_code, only(call).base_offset) == (0, 0)
    log = broker.node.manager.partition(TP).log
    assert log.size_bytes == len(batch())


def test_a_wrong_checksum_is_refused_and_nothing_is_stored(broker: Broker) -> None:
    changed = bytearray(batch())
    changed[-1] ^= 1
    reply = only(produce(broker, request(changed)))
    assert (reply.error_code, reply.log_start_offset) == (ErrorCode.CORRUPT_MESSAGE, -1)
    broker.node.end_turn()
    assert broker.node.manager.partition(TP).log.log_end_offset == 0


@pytest.mark.parametrize("version, code", [(6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE), (7, 0)])
def test_zstd_from_version_7(broker: Broker, version: int, code: int) -> None:
    call = produce(broker, request(batch(codec=4)), version)
    broker.node.end_turn()
    assert only(call).error_code == code
    twice = bytes(batch(codec=4)) * 2
    assert only(produce(broker, request(twice), version)).error_code == (
        code or ErrorCode.INVALID_RECORD
    )


def test_a_null_key_in_a_compacted_topic_names_its_records(broker: Broker) -> None:
    broker.node.create_topic("compacted", number=9, cleanup_policy="compact")
    for version in (7, 8):
        message = request(batch(b"a", b"b"), topic="compacted")
        reply = only(produce(broker, message, version))
        assert reply.error_code == ErrorCode.INVALID_RECORD
        assert [e.batch_index for e in reply.record_errors] == ([0, 1] if version >= 8 else [])
        each = "Compacted topic cannot accept message without key in topic partition compacted-0"
        text = (
            "One or more records have been rejected due to 2 record errors in total, and only "
            "showing the first three errors at most: "
            f"[RecordError(batchIndex=0, message='{each}'), "
            f"RecordError(batchIndex=1, message='{each}')]"
        )
        assert reply.error_message == (text if version >= 8 else None)


def test_log_append_time(broker: Broker) -> None:
    broker.node.create_topic("stamped", number=9, message_timestamp_type="LogAppendTime")
    call = produce(broker, request(batch(timestamp_ms=5), topic="stamped"), 12)
    broker.node.end_turn()
    assert only(call).log_append_time_ms == NOW_MS


def test_internal_topics_are_for_nobody_but_the_admin_client(broker: Broker) -> None:
    broker.node.create_topic("__consumer_offsets", number=9)
    message = request(batch(), topic="__consumer_offsets")
    reply = only(produce(broker, message, 12))
    assert (reply.error_code, reply.log_start_offset) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    assert produce(broker, message, 12, client_id="__admin_client").is_waiting


@pytest.mark.parametrize("version, code", [(12, 3), (13, ErrorCode.UNKNOWN_TOPIC_ID)])
def test_no_such_topic(broker: Broker, version: int, code: int) -> None:
    message = request(batch(), topic="missing", topic_id=topic_id_of(99))
    assert only(produce(broker, message, version)).error_code == code


def test_idempotence_answers_duplicates_with_their_first_offsets(broker: Broker) -> None:
    def send(sequence: int) -> PartitionProduceResponse:
        records = batch(producer_id=9, producer_epoch=0, base_sequence=sequence)
        call = produce(broker, request(records))
        broker.node.end_turn()
        return only(call)

    assert [send(s).base_offset for s in (0, 1, 2, 1)] == [0, 1, 2, 1]
    gap = send(7)
    assert (gap.error_code, gap.log_start_offset) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)


@pytest.mark.parametrize("version", [9, 10, 13])
def test_the_leader_is_named_to_who_asks_elsewhere(broker: Broker, version: int) -> None:
    broker.node.create_topic("far", number=9, replicas=(2,), leader=2)
    broker.register(2, "host2", 9094, rack="r")
    message = request(batch(), topic="far", topic_id=topic_id_of(9))
    call = produce(broker, message, version)
    reply = only(call)
    assert reply.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    endpoints = [(e.node_id, e.host, e.port, e.rack) for e in call.answer.node_endpoints]
    if version < 10:
        assert (reply.current_leader, endpoints) == (None, [])
    else:
        assert reply.current_leader is not None
        assert (reply.current_leader.leader_id, reply.current_leader.leader_epoch) == (2, 0)
        assert endpoints == [(2, "host2", 9094, "r")]


def test_a_broken_disk(broker: Broker) -> None:
    call = produce(broker, request(batch()))
    broker.node.fail_writes()
    broker.node.end_turn()
    reply = only(call)
    assert (reply.error_code, reply.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    assert only(produce(broker, request(batch()))).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_timeout_with_lagging_followers(broker: Broker) -> None:
    broker.node.create_topic("slow", number=9, replicas=(1, 2))
    call = produce(broker, request(batch(), topic="slow", timeout_ms=50), 12)
    broker.node.end_turn()
    assert call.is_waiting
    broker.purgatory.advance(NOW_MS + 50)
    assert only(call).error_code == ErrorCode.REQUEST_TIMED_OUT


def test_error_reply_names_every_partition(broker: Broker) -> None:
    call = produce(broker, request(batch(), batch(), acks=1))
    reply: Any = HANDLER.error_reply(call.request, 42, None)
    assert [p.error_code for t in reply.responses for p in t.partition_responses] == [42, 42]
    silent = produce(broker, request(batch(), acks=0))
    assert isinstance(HANDLER.error_reply(silent.request, 42, None), CloseConnection)
