"""InitProducerId: ids for idempotent producers, refusals for transactional ones."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.init_producer_id import HANDLER
from pykbroker.broker.producer_ids import ProducerIds
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from tests.broker.handlers.data_plane import Broker, Call
from tests.broker.handlers.transaction_broker import TransactionBroker


@pytest.fixture
def broker() -> Broker:
    """Its controller answers when the test resolves `asked`."""
    broker = Broker()
    asked: list[Deferred] = []

    def ask() -> Deferred:
        asked.append(Deferred())
        return asked[-1]

    broker.producer_ids = ProducerIds(ask)
    broker.asked = asked  # type: ignore[attr-defined]
    return broker


def init(broker: Broker, version: int = 5, **fields: Any) -> Call:
    fields = {"transactional_id": None, "transaction_timeout_ms": 60_000} | fields
    return Call(broker, HANDLER, InitProducerIdRequest(**fields), version)


def told(call: Call) -> tuple[int, int, int]:
    answer = call.answer
    return answer.error_code, answer.producer_id, answer.producer_epoch


@pytest.mark.parametrize("version", range(6))
def test_fresh_ids(broker: Any, version: int) -> None:
    first, second = init(broker, version), init(broker, version)
    assert first.is_waiting
    broker.asked[0].resolve(
        AllocateProducerIdsResponse(producer_id_start=1000, producer_id_len=1000)
    )
    assert [told(c) for c in (first, second, init(broker, version))] == [
        (0, 1000, 0),
        (0, 1001, 0),
        (0, 1002, 0),
    ]


def test_an_id_and_epoch_of_before_change_nothing(broker: Any) -> None:
    call = init(broker, producer_id=5, producer_epoch=3)
    broker.asked[0].resolve(AllocateProducerIdsResponse(producer_id_start=0, producer_id_len=10))
    assert told(call) == (0, 0, 0)


def test_no_block_from_the_controller(broker: Any) -> None:
    call = init(broker)
    broker.asked[0].resolve(KafkaError(ErrorCode.NOT_CONTROLLER))
    assert told(call) == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1, -1)


@pytest.mark.parametrize(
    "fields, code",
    [
        ({"producer_id": 5}, ErrorCode.INVALID_REQUEST),
        ({"producer_epoch": 5}, ErrorCode.INVALID_REQUEST),
        ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_refusals(broker: Any, fields: dict[str, Any], code: int) -> None:
    assert told(init(broker, **fields)) == (code, -1, -1)
    assert broker.asked == []


@pytest.mark.parametrize("version", range(6))
def test_a_transactional_producer(version: int) -> None:
    broker = TransactionBroker()
    first = broker.init(version)
    assert (first.error_code, first.producer_id, first.producer_epoch) == (0, 100, 0)
    assert broker.init(version).producer_epoch == 1
    for timeout_ms in (0, 900_001):
        refused = broker.init(version, transaction_timeout_ms=timeout_ms)
        assert refused.error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    if version >= 3:
        on = broker.init(version, producer_id=100, producer_epoch=1)
        assert (on.error_code, on.producer_epoch) == (0, 2)
        fenced = broker.init(version, producer_id=100, producer_epoch=0)
        expected = ErrorCode.PRODUCER_FENCED if version >= 4 else ErrorCode.INVALID_PRODUCER_EPOCH
        assert (fenced.error_code, fenced.producer_id) == (expected, -1)


def test_a_node_that_is_no_coordinator() -> None:
    assert TransactionBroker(ready=False).init().error_code == ErrorCode.NOT_COORDINATOR
