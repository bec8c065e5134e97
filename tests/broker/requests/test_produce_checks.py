"""Batches are heavy by what they hold: decompression on the event loop stops at a limit."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from pykbroker.broker.requests.produce_checks import MOST_LIGHT_BATCHES, needs_check
from pykbroker.errors import ErrorCode
from pykbroker.log.validation import batch_validation
from pykbroker.log.validation.validation_rules import (
    HEAVY_RECOMPRESSED_BYTES,
    LIGHT_DECOMPRESSED_BYTES,
)
from pykbroker.protocol.compression import CODEC_NAMES, GZIP, LZ4, NONE, SNAPPY, ZSTD
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_produce import only, produce, request
from tests.replication.node import batch

CODECS = [GZIP, SNAPPY, LZ4, ZSTD]
MIB = 1 << 20


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.node.create_topic(partitions=2)
    return broker


@pytest.mark.parametrize("codec", CODECS, ids=CODEC_NAMES.__getitem__)
def test_what_holds_little_is_checked_on_the_loop(broker: Broker, codec: int) -> None:
    call = produce(broker, request(batch(bytes(LIGHT_DECOMPRESSED_BYTES // 2), codec=codec)))
    assert broker.validation.waiting == []
    broker.node.end_turn()
    assert only(call).error_code == 0


@pytest.mark.parametrize("codec", CODECS, ids=CODEC_NAMES.__getitem__)
def test_what_holds_much_is_checked_in_a_thread(broker: Broker, codec: int) -> None:
    records = batch(bytes(LIGHT_DECOMPRESSED_BYTES), codec=codec)
    assert len(records) < 64 * 1024  # its size alone does not make it heavy
    call = produce(broker, request(records, batch(b"beside", codec=codec)))
    assert len(broker.validation.waiting) == 1
    assert call.is_waiting
    broker.validation.finish()
    broker.node.end_turn()
    (topic,) = call.answer.responses
    assert [(each.error_code, each.base_offset) for each in topic.partition_responses] == [
        (0, 0),
        (0, 0),
    ]


@pytest.mark.parametrize("codec", [GZIP, LZ4, ZSTD], ids=CODEC_NAMES.__getitem__)
def test_the_loop_inflates_no_more_than_the_limit(broker: Broker, codec: int) -> None:
    message = request(batch(bytes(32 * MIB), codec=codec))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call = produce(broker, message)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert call.is_waiting
    assert peak < 4 * MIB


@pytest.mark.parametrize("codec", CODECS, ids=CODEC_NAMES.__getitem__)
def test_a_bomb_is_refused_in_the_thread(
    broker: Broker, codec: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_validation, "MAX_DECOMPRESSED_BATCH_BYTES", MIB)
    call = produce(broker, request(batch(bytes(MIB + 1), codec=codec)))
    assert len(broker.validation.waiting) == 1
    broker.validation.finish()
    assert only(call).error_code == ErrorCode.MESSAGE_TOO_LARGE
    broker.node.end_turn()
    assert broker.counters.messages_in == 0


def test_a_batch_to_be_compressed_anew_is_judged_by_what_it_holds() -> None:
    broker = Broker({"compression.type": "zstd"})
    broker.node.create_topic()
    produce(broker, request(batch(bytes(4096), codec=GZIP)))
    assert broker.validation.waiting == []
    produce(broker, request(batch(bytes(16 * 1024), codec=GZIP)))
    assert len(broker.validation.waiting) == 1


def test_a_light_batch_that_is_refused(broker: Broker) -> None:
    records = batch(bytes(1000), codec=ZSTD)
    records[-1] ^= 1
    assert only(produce(broker, request(records))).error_code == ErrorCode.CORRUPT_MESSAGE
    assert broker.validation.waiting == []


def test_many_light_batches_of_one_request_are_shared_with_a_thread() -> None:
    broker = Broker()
    broker.node.create_topic(partitions=MOST_LIGHT_BATCHES + 3)
    call = produce(broker, request(*[batch(b"a", codec=ZSTD)] * (MOST_LIGHT_BATCHES + 3)))
    ((work, _),) = broker.validation.waiting
    assert len(work) == 3
    broker.validation.finish()
    broker.node.end_turn()
    (topic,) = call.answer.responses
    assert [each.error_code for each in topic.partition_responses] == [0] * len(
        topic.partition_responses
    )
    assert broker.counters.messages_in == MOST_LIGHT_BATCHES + 3


def test_which_requests_are_looked_into() -> None:
    def is_looked_into(*records: Any) -> bool:
        return needs_check(produce(Broker(), request(*records)).request)

    assert not is_looked_into(None, b"", b"short", batch(b"a", codec=NONE))
    assert is_looked_into(batch(b"a"), batch(b"a", codec=SNAPPY))
    assert is_looked_into(batch(bytes(HEAVY_RECOMPRESSED_BYTES)))
