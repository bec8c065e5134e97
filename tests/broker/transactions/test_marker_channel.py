"""Markers go in place, over the network, or nowhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.broker.transactions.marker_channel import MarkerChannel
from pykbroker.config import BrokerConfig
from pykbroker.config.load import standalone_properties
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker


def test_by_leader() -> None:
    config = BrokerConfig.from_properties(standalone_properties("/d", port=0))
    listener = SimpleNamespace(host="there", port=9)
    brokers = {2: SimpleNamespace(listeners={config.inter_broker_listener: listener})}
    sent: list[Any] = []
    local: list[Any] = []

    def send(*arguments: Any, purpose: str) -> str:
        sent.append((*arguments, purpose))
        return "remote"

    channel = MarkerChannel(
        config=config,
        image=lambda: SimpleNamespace(brokers=brokers),  # type: ignore[arg-type, return-value]
        outgoing=SimpleNamespace(send=send),  # type: ignore[arg-type]
        now_ms=lambda: 1000,
        write_locally=lambda markers: local.append(markers) or "local",  # type: ignore[func-returns-value, arg-type, return-value]
    )
    markers = [WritableTxnMarker(producer_id=7)]
    assert channel.write(config.node_id, markers) == "local"
    assert local == [markers]
    assert channel.write(2, markers) == "remote"
    ((peer, request, deadline_ms, purpose),) = sent
    assert (peer.node_id, peer.host, peer.port) == (2, "there", 9)
    assert request.markers is markers
    assert (deadline_ms, purpose) == (1000 + config.request_timeout_ms, "markers")
    away = channel.write(3, markers)
    assert isinstance(away, KafkaError)
    assert away.code == ErrorCode.BROKER_NOT_AVAILABLE
