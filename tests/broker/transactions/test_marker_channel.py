"""Markers go in place, over the network, or nowhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.transactions.marker_channel import MarkerChannel
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)


def test_by_leader() -> None:
    config = BrokerConfig.from_properties(standalone_properties("/d", port=0))
    listener = SimpleNamespace(host="there", port=9)
    brokers = {2: SimpleNamespace(listeners={config.inter_broker_listener: listener})}
    sent: list[Any] = []
    answers: list[Deferred] = []
    local: list[Any] = []

    def send(*arguments: Any, purpose: str) -> Deferred:
        sent.append((*arguments, purpose))
        answers.append(Deferred())
        return answers[-1]

    channel = MarkerChannel(
        config=config,
        image=lambda: SimpleNamespace(brokers=brokers),  # type: ignore[arg-type, return-value]
        outgoing=SimpleNamespace(send=send),  # type: ignore[arg-type]
        now_ms=lambda: 1000,
        write_locally=lambda markers: local.append(markers) or "local",  # type: ignore[func-returns-value, arg-type, return-value]
    )
    markers = [WritableTxnMarker(producer_id=7)]
    outcomes: list[Any] = [channel.write(config.node_id, markers)]
    assert outcomes == ["local"]
    assert local == [markers]
    outcomes.append(channel.write(2, markers))
    ((peer, request, deadline_ms, purpose),) = sent
    assert (peer.node_id, peer.host, peer.port) == (2, "there", 9)
    assert request.markers is markers
    assert (deadline_ms, purpose) == (1000 + config.request_timeout_ms, "markers")
    part = WritableTxnMarkerPartitionResult(partition_index=3, error_code=5)
    topic = WritableTxnMarkerTopicResult(name="t", partitions=[part])
    result = WritableTxnMarkerResult(producer_id=7, topics=[topic])
    answers[0].resolve(WriteTxnMarkersResponse(markers=[result]))
    assert outcomes[1].value == {(7, "t", 3): part}
    outcomes.append(channel.write(2, markers))
    failure = KafkaError(ErrorCode.NETWORK_EXCEPTION)
    answers[1].resolve(failure)
    assert outcomes[2].value is failure
    away = channel.write(3, markers)
    assert isinstance(away, KafkaError)
    assert away.code == ErrorCode.BROKER_NOT_AVAILABLE
