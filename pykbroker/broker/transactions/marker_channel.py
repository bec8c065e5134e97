"""Sends transaction markers to the leaders of partitions: over the network, or in place.

In: `write`. Out: WriteTxnMarkers requests to other brokers; a call where this node leads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.broker.outgoing import Outgoing, broker_peer
from pykbroker.config import BrokerConfig
from pykbroker.deferred import then
from pykbroker.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pykbroker.coordinator.transaction.marker_driver import MarkerResults
    from pykbroker.deferred import Deferred
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
    from pykbroker.protocol.messages.write_txn_markers_response import WriteTxnMarkersResponse


class MarkerChannel:
    """Sends transaction markers. `write_locally` appends markers where this node leads."""

    def __init__(
        self,
        *,
        config: BrokerConfig,
        image: Callable[[], MetadataImage],
        outgoing: Outgoing,
        now_ms: Callable[[], int],
        write_locally: Callable[[list[WritableTxnMarker]], MarkerResults | Deferred],
    ) -> None:
        self._config = config
        self._image = image
        self._outgoing = outgoing
        self._now_ms = now_ms
        self._write_locally = write_locally

    def write(
        self, leader: int, markers: list[WritableTxnMarker]
    ) -> MarkerResults | KafkaError | Deferred:
        """Send markers; return the results, or a KafkaError on failure, or a Deferred of either."""
        if leader == self._config.node_id:
            return self._write_locally(markers)
        peer = broker_peer(self._image(), leader, self._config.inter_broker_listener)
        if peer is None:
            return KafkaError(ErrorCode.BROKER_NOT_AVAILABLE)
        from pykbroker.protocol.messages.write_txn_markers_request import WriteTxnMarkersRequest

        deadline_ms = self._now_ms() + self._config.request_timeout_ms
        request = WriteTxnMarkersRequest(markers=markers)
        return then(self._outgoing.send(peer, request, deadline_ms, purpose="markers"), _results_in)


def _results_in(outcome: WriteTxnMarkersResponse | KafkaError) -> MarkerResults | KafkaError:
    if isinstance(outcome, KafkaError):
        return outcome
    return {
        (marker.producer_id, topic.name, partition.partition_index): partition
        for marker in outcome.markers
        for topic in marker.topics
        for partition in topic.partitions
    }
