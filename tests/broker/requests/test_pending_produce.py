"""Requests that are rejected as a whole, and the error code of every partition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.requests.pending_produce import error_reply, refused_as_a_whole
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.produce_response import ProduceResponse
from tests.replication.node import batch

SOUND = batch(b"v")
SHORT = memoryview(bytes(8) + b"\0\0\0\x05" + bytes(30))
TRANSACTIONAL = batch(b"v", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)


def request(*records: memoryview | None, acks: int = 1, transactional_id: str | None = None) -> Any:
    parts = [PartitionProduceData(index=at, records=each) for at, each in enumerate(records)]
    message = ProduceRequest(
        acks=acks,
        transactional_id=transactional_id,
        topic_data=[TopicProduceData(name="t", partition_data=parts)],
    )
    return SimpleNamespace(message=message, api_version=9)


@pytest.mark.parametrize("records", [(SOUND,), (SOUND, SOUND), (None, SOUND), (SOUND, bytes(3))])
def test_what_is_looked_at_partition_by_partition(records: Any) -> None:
    assert refused_as_a_whole(request(*records)) is None


@pytest.mark.parametrize(("bad", "code"), [(SHORT, 2), (TRANSACTIONAL, 53)])
def test_one_bad_batch_refuses_all(bad: memoryview, code: int) -> None:
    reply = refused_as_a_whole(request(SOUND, bad))
    assert isinstance(reply, ProduceResponse)
    told = [part.error_code for topic in reply.responses for part in topic.partition_responses]
    assert told == [code, code]
    assert isinstance(refused_as_a_whole(request(SOUND, bad, acks=0)), CloseConnection)


def test_a_transaction_is_fine_with_its_id() -> None:
    assert refused_as_a_whole(request(TRANSACTIONAL, transactional_id="t")) is None


def test_topics_without_partitions_are_left_out_of_an_error() -> None:
    reply = error_reply(request(), 3)
    assert isinstance(reply, ProduceResponse)
    assert reply.responses == []
