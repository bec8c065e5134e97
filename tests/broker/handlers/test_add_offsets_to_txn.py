"""AddOffsetsToTxn: the group's partition joins the transaction."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.add_offsets_to_txn import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from pykbroker.types import TopicPartition
from tests.broker.handlers.transaction_broker import TransactionBroker


def ask(broker: TransactionBroker, version: int = 4, **fields: Any) -> int:
    asked: dict[str, Any] = {
        "transactional_id": "id",
        "producer_id": 100,
        "producer_epoch": 0,
        "group_id": "g",
    } | fields
    code: int = broker.ask(HANDLER, AddOffsetsToTxnRequest(**asked), version).error_code
    return code


@pytest.mark.parametrize("version", range(5))
def test_a_group(version: int) -> None:
    broker = TransactionBroker()
    broker.init()
    assert ask(broker, version) == 0
    found: Any = broker.transactions.one_transaction("id")
    expected = TopicPartition(GROUP_METADATA_TOPIC, broker.groups.partition_for("g"))
    assert list(found.partitions) == [expected]
    fenced = ErrorCode.INVALID_PRODUCER_EPOCH if version < 2 else ErrorCode.PRODUCER_FENCED
    assert ask(broker, version, producer_epoch=4) == fenced


def test_refusals() -> None:
    broker = TransactionBroker()
    assert ask(broker) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert ask(broker, transactional_id="") == ErrorCode.INVALID_REQUEST
