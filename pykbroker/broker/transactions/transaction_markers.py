"""Writes the ends of transactions into the partitions of this node.

    a partition that is not online on this node      UNKNOWN_TOPIC_OR_PARTITION, as in Kafka
    a marker without a producer id or epoch          UNKNOWN_SERVER_ERROR
    a partition of __consumer_offsets                by the group coordinator: the offsets of the
                                                     transaction become visible, or are dropped
    any other                                        appended, and answered when it is committed
                                                     (request.timeout.ms at the latest)

In:  markers, from WriteTxnMarkers or from this node's own transaction coordinator.
Out: a code for each partition of each producer id, also as a WriteTxnMarkersResponse.
Source: `KafkaApis.handleWriteTxnMarkersRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.coordinator.batches import marker_batch
from pykbroker.deferred import Deferred, gather, then
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.log.partition.partition_log import AppendOrigin
from pykbroker.protocol.messages.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from pykbroker.replication.delayed_produce import DelayedProduce
from pykbroker.replication.partition import ACKS_ALL, Partition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.coordinator.transaction.marker_driver import MarkerResults
    from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker

# The transaction coordinator retries what it knows of partitions; it knows nothing of groups.
_NOT_READY = frozenset(
    (
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    )
)


def write_markers(
    services: BrokerServices, markers: Sequence[WritableTxnMarker]
) -> MarkerResults | Deferred:
    """Write each marker into each of its partitions; return the results when all have their
    outcome. A partition that occurs twice for a producer id is answered once, for the last.
    """
    results: MarkerResults = {}
    appends = PendingMarkers(services)
    parts: list[object] = [appends.deferred]
    for marker in paced(markers, services.breathe):
        for topic in paced(marker.topics, services.breathe):
            for index in topic.partition_indexes:
                result = WritableTxnMarkerPartitionResult(partition_index=index)
                results[marker.producer_id, topic.name, index] = result
                found = services.replica_manager.lookup(topic.name, index)
                if isinstance(found, int):
                    result.error_code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                elif -1 in (marker.producer_id, marker.producer_epoch):
                    result.error_code = int(ErrorCode.UNKNOWN_SERVER_ERROR)
                elif topic.name == GROUP_METADATA_TOPIC:
                    ended = services.groups.end_transaction(index, marker)
                    parts.append(then(ended, partial(_note_group_code, result)))
                else:
                    appends.append(marker, found, result)
                services.breathe()
    appends.start()
    services.wake()
    return gather(parts, lambda _: results)


class PendingMarkers(DelayedProduce):
    """The markers of one request that are appended, and wait for their high watermarks."""

    __slots__ = ("_manager", "_wall_ms")

    def __init__(self, services: BrokerServices) -> None:
        deadline_ms = services.now_ms() + services.config.request_timeout_ms
        super().__init__(True, deadline_ms, Deferred())
        self._manager = services.replica_manager
        self._wall_ms = services.wall_ms()

    def append(
        self,
        marker: WritableTxnMarker,
        partition: Partition,
        result: WritableTxnMarkerPartitionResult,
    ) -> None:
        """Append one marker; `result` receives its code, now or later."""
        try:
            outcome = self._manager.append(
                partition,
                memoryview(marker_batch(marker, self._wall_ms)),
                ACKS_ALL,
                self._wall_ms,
                AppendOrigin.COORDINATOR,
                transaction_version=marker.transaction_version,
            )
        except KafkaError as refusal:
            result.error_code = refusal.code
        else:
            result.error_code = int(outcome.error)
            if not outcome.error:
                self.add(partition, outcome.last_offset + 1, result)

    def start(self) -> None:
        """Wait for the high watermarks of what was appended.

        Some of it may already be written, because rounds end while `breathe` waits. A failed write
        is still noticed, because its partition is offline.
        """
        if self.pending:
            self._manager.await_turn(self)
        else:
            self.deferred.resolve(None)

    def fail_part(self, reply: WritableTxnMarkerPartitionResult, code: int) -> None:
        reply.error_code = code


def _note_group_code(result: WritableTxnMarkerPartitionResult, code: int) -> None:
    result.error_code = int(ErrorCode.NOT_LEADER_OR_FOLLOWER if code in _NOT_READY else code)


def response_to(results: MarkerResults, breathe: Breathe = go_on) -> WriteTxnMarkersResponse:
    """Return the response with these results."""
    markers: dict[int, WritableTxnMarkerResult] = {}
    topics: dict[tuple[int, str], WritableTxnMarkerTopicResult] = {}
    for (producer_id, name, _), result in paced(results.items(), breathe):
        topic = topics.get((producer_id, name))
        if topic is None:
            topic = topics[producer_id, name] = WritableTxnMarkerTopicResult(name=name)
            marker = markers.setdefault(
                producer_id, WritableTxnMarkerResult(producer_id=producer_id)
            )
            marker.topics.append(topic)
        topic.partitions.append(result)
    return WriteTxnMarkersResponse(markers=list(markers.values()))
