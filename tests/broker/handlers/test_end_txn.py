"""EndTxn: outcomes, and the codes of each version."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.end_txn import HANDLER
from pykbroker.errors import ErrorCode
from tests.broker.handlers.data_plane import error_reply
from tests.broker.handlers.transaction_broker import TransactionBroker


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("committed", [True, False])
def test_an_end(version: int, committed: bool) -> None:
    broker = TransactionBroker()
    broker.init()
    assert broker.add(0, 0, 1) == [0, 0]
    answer = broker.end(0, version=version, committed=committed)
    assert answer.error_code == 0
    expected = (100, 1) if version == 5 else (-1, -1)
    assert (answer.producer_id, answer.producer_epoch) == expected
    broker.node.end_turn()
    for index in (0, 1):
        log = broker.replica_manager.lookup("t", index).log  # type: ignore[union-attr]
        (producer,) = log.producers.active_producers()
        assert (producer.producer_id, producer.producer_epoch) == (100, 1 if version == 5 else 0)
        assert log.log_end_offset == 1  # the marker


@pytest.mark.parametrize("version", range(6))
def test_a_fenced_producer(version: int) -> None:
    broker = TransactionBroker()
    broker.init()
    broker.init()
    broker.init()
    fenced = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert broker.end(0, version=version).error_code == fenced


def test_without_an_id_or_with_an_unknown_one() -> None:
    broker = TransactionBroker()
    assert broker.end(0, transactional_id="").error_code == ErrorCode.INVALID_REQUEST
    assert broker.end(0).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_an_end_of_nothing() -> None:
    broker = TransactionBroker()
    broker.init()
    assert broker.end(0).error_code == ErrorCode.INVALID_TXN_STATE
    answer = broker.end(0, version=5, committed=False)
    assert (answer.error_code, answer.producer_epoch) == (0, 1)
    again = broker.end(0, version=5, committed=False)
    assert (again.error_code, again.producer_epoch) == (0, 1)


def test_a_node_that_is_no_coordinator() -> None:
    broker = TransactionBroker(ready=False)
    assert broker.end(0).error_code == ErrorCode.NOT_COORDINATOR


def test_a_whole_request_that_failed() -> None:
    broker = TransactionBroker()
    broker.init()
    from pykbroker.protocol.messages.end_txn_request import EndTxnRequest

    call = broker.call(HANDLER, EndTxnRequest(transactional_id="id"), 5)
    assert error_reply(HANDLER, call.request, 15, None).error_code == 15
