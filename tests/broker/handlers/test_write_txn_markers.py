"""WriteTxnMarkers on the wire; what the markers do is tested beside `transaction_markers`."""

from __future__ import annotations

import pytest

from pykbroker.broker.handlers.write_txn_markers import HANDLER
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.broker.handlers.data_plane import Broker, Call, error_reply


def request(topic: str, epoch: int = 1) -> WriteTxnMarkersRequest:
    topics = [WritableTxnMarkerTopic(name=topic, partition_indexes=[0])]
    marker = WritableTxnMarker(
        producer_id=9,
        producer_epoch=epoch,
        transaction_result=True,
        topics=topics,
        transaction_version=2,
    )
    return WriteTxnMarkersRequest(markers=[marker])


def code_of(answer: object) -> int:
    (marker,) = answer.markers  # type: ignore[attr-defined]
    (topic,) = marker.topics
    (partition,) = topic.partitions
    assert (marker.producer_id, partition.partition_index) == (9, 0)
    code: int = partition.error_code
    return code


@pytest.mark.parametrize("version", [1, 2])
def test_a_marker(version: int) -> None:
    broker = Broker()
    partition = broker.node.create_topic()
    options = {"producer_id": 9, "producer_epoch": 1, "base_sequence": 0}
    broker.node.append(partition, b"x", is_transactional=True, **options)
    same_epoch = Call(broker, HANDLER, request("t"), version)
    broker.node.end_turn()
    # Version 1 does not carry the transaction version, by which this epoch would be too old.
    assert code_of(same_epoch.answer) == (0 if version == 1 else ErrorCode.INVALID_PRODUCER_EPOCH)
    next_epoch = Call(broker, HANDLER, request("t", 2), version)
    assert next_epoch.is_waiting
    broker.node.end_turn()
    assert code_of(next_epoch.answer) == 0


def test_error_reply() -> None:
    call = Call(Broker(), HANDLER, request("t"), 2)
    assert code_of(error_reply(HANDLER, call.request, 31, None)) == 31
