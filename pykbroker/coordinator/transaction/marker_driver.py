"""Sends the end markers of transactions to the leaders of their partitions.

    queue -> send_queued -> one request in flight to each leader -> answers -> retry the rest ->
    done

State: the transactions whose markers are being sent, with the partitions that have none yet; the
queue of each leader.
Out: WriteTxnMarkers requests; `on_done` when every partition has its marker, cannot hold one, or
was deleted.
Invariants: a partition that is deleted needs no marker. A partition whose leader is unknown, away
or not able is asked again, however long it takes: the outcome is decided. A partition that knows of
a newer coordinator or producer epoch is not asked again before `ask_refused_again` (or a reload):
either another coordinator finishes, or the coordinator's own log has lost records, and an operator
has to abort what hangs in that partition.
Source: Kafka's `TransactionMarkerChannelManager.scala`,
`TransactionMarkerRequestCompletionHandler.scala`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from pykbroker.coordinator.transaction.shard import Ended
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import Partitions
from pykbroker.deferred import Deferred
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.errors import ErrorCode, KafkaError, error_name
from pykbroker.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.protocol.messages.write_txn_markers_response import (
        WritableTxnMarkerPartitionResult,
    )

RETRY_MS = 50

MarkerResults: TypeAlias = "dict[tuple[int, str, int], WritableTxnMarkerPartitionResult]"
"""(producer id, topic, partition) -> its part of the response."""

_log = logging.getLogger("pykbroker.coordinator.transaction")

# The partition will never have this producer's data again, or cannot hold markers.
_DONE = frozenset(
    (
        ErrorCode.NONE,
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
        ErrorCode.UNSUPPORTED_VERSION,
    )
)
_FENCED = frozenset((ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED))


class Sending:
    """The markers of one transaction. `is_over`: finished, replaced by a later end of the same id,
    or given up because this node does not coordinate it any more, reloads it or stops.
    """

    __slots__ = (
        "coordinator_epoch",
        "ended",
        "is_over",
        "log_partition",
        "missing",
        "refused",
        "told",
    )

    def __init__(self, log_partition: int, coordinator_epoch: int, ended: Ended) -> None:
        self.log_partition = log_partition
        self.coordinator_epoch = coordinator_epoch
        self.ended = ended
        self.missing = dict(ended.transaction.partitions)
        self.refused: dict[TopicPartition, None] = {}
        """Of the missing ones those that know of a newer coordinator or producer epoch."""
        self.told: set[TopicPartition] = set()
        """Those that the log has a line about."""
        self.is_over = False


class Batch:
    """The partitions of one transaction for which one leader gets a marker."""

    __slots__ = ("partitions", "sending")

    def __init__(self, sending: Sending, partitions: list[TopicPartition]) -> None:
        self.sending = sending
        self.partitions = partitions

    def marker(self) -> WritableTxnMarker:
        """The marker as in the request."""
        transaction = self.sending.ended.transaction
        topics: dict[str, list[int]] = {}
        for topic, index in self.partitions:
            topics.setdefault(topic, []).append(index)
        return WritableTxnMarker(
            producer_id=transaction.producer_id,
            producer_epoch=transaction.epoch,
            transaction_result=transaction.state is TransactionState.PREPARE_COMMIT,
            topics=[
                WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                for name, indexes in topics.items()
            ],
            coordinator_epoch=self.sending.coordinator_epoch,
            transaction_version=transaction.client_version,
        )


class MarkerDriver:
    """Sends the end markers of transactions.

    write(leader, markers): returns MarkerResults or a KafkaError, or a Deferred of either.
    on_done(sending): called when all markers are written, or not needed any more.
    """

    def __init__(
        self,
        *,
        image: Callable[[], MetadataImage],
        write: Callable[[int, list[WritableTxnMarker]], Any],
        on_done: Callable[[Sending], None],
        scheduler: Scheduler,
    ) -> None:
        self._image = image
        self._write = write
        self._on_done = on_done
        self._scheduler = scheduler
        self._sendings: dict[str, Sending] = {}
        self._queues: dict[int, list[Batch]] = {}
        self._new: dict[Sending, None] = {}
        self._busy: set[int] = set()
        self._again: list[Batch] = []
        self._timer: Timer | None = None

    def queue(self, log_partition: int, coordinator_epoch: int, ended: Ended) -> None:
        """Queue the markers of a transaction, replacing those of an earlier one
        with the same id.
        """
        before = self._sendings.pop(ended.transactional_id, None)
        if before is not None:
            before.is_over = True
        sending = Sending(log_partition, coordinator_epoch, ended)
        self._sendings[ended.transactional_id] = sending
        self._queue(sending, sending.missing)

    def is_sending(self, ended: Ended) -> bool:
        """Return whether the markers of this end are being sent."""
        return self._sending_of(ended) is not None

    def missing(self, ended: Ended) -> Partitions | None:
        """Return the partitions that have no marker of this end yet; None
        if its markers are not being sent.
        """
        sending = self._sending_of(ended)
        return None if sending is None else dict(sending.missing)

    def _sending_of(self, ended: Ended) -> Sending | None:
        sending = self._sendings.get(ended.transactional_id)
        if sending is None or not sending.ended.transaction.is_same_end(ended.transaction):
            return None
        return sending

    def ask_refused_again(self, ended: Ended) -> None:
        """Queue rejected markers again, but not written ones: an operator may have
        resolved the problem.
        """
        sending = self._sendings.get(ended.transactional_id)
        if sending is not None and sending.refused:
            refused, sending.refused = sending.refused, {}
            self._queue(sending, refused)

    def send_queued(self) -> None:
        """Send what is queued, together to each leader that has no request in flight."""
        new, self._new = self._new, {}
        for leader in list(self._queues):
            self._send_to(leader)
        for sending in new:
            self._finish_if_done(sending)

    def forget(self, log_partition: int) -> None:
        """Forget transactions that this node no longer coordinates, or reloads."""
        for transactional_id, sending in list(self._sendings.items()):
            if sending.log_partition == log_partition:
                sending.is_over = True
                del self._sendings[transactional_id]

    def close(self) -> None:
        """Stop sending."""
        for sending in self._sendings.values():
            sending.is_over = True
        self._sendings.clear()
        self._queues.clear()
        self._new.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # ---- sending

    def _queue(self, sending: Sending, partitions: Iterable[TopicPartition]) -> None:
        """Queue partitions by leader; one without a leader is tried again, a deleted one needs no
        marker.
        """
        self._new[sending] = None
        image = self._image()
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in list(partitions):
            topic = image.topic(partition.topic)
            found = None if topic is None else topic.partitions.get(partition.partition)
            if found is None:
                _log.info(
                    "%s: %s is deleted and needs no marker",
                    sending.ended.transactional_id,
                    partition,
                )
                sending.missing.pop(partition, None)
            else:
                by_leader.setdefault(found.leader, []).append(partition)
        for leader, theirs in by_leader.items():
            batch = Batch(sending, theirs)
            if leader < 0:
                self._try_again(batch)
            else:
                self._queues.setdefault(leader, []).append(batch)

    def _send_to(self, leader: int) -> None:
        if leader in self._busy:
            return
        by_sending: dict[Sending, Batch] = {}
        for batch in self._queues.pop(leader, ()):
            if not batch.sending.is_over:
                known = by_sending.setdefault(batch.sending, batch)
                if known is not batch:
                    known.partitions += batch.partitions
        batches = list(by_sending.values())
        if not batches:
            return
        self._busy.add(leader)
        outcome = self._write(leader, [batch.marker() for batch in batches])
        if isinstance(outcome, Deferred):
            outcome.on_resolved(lambda value: self._answered(leader, batches, value))
        else:
            self._answered(leader, batches, outcome)

    def _answered(
        self, leader: int, batches: list[Batch], outcome: MarkerResults | KafkaError
    ) -> None:
        self._busy.discard(leader)
        if isinstance(outcome, KafkaError):
            for batch in batches:
                self._try_again(batch)
        else:
            for batch in batches:
                self._take(batch, outcome)
        self._send_to(leader)

    def _take(self, batch: Batch, results: MarkerResults) -> None:
        """Process the results for one transaction's markers on one leader."""
        sending = batch.sending
        if sending.is_over:
            return
        producer_id = sending.ended.transaction.producer_id
        left = []
        for partition in batch.partitions:
            result = results.get((producer_id, *partition))
            code = ErrorCode.UNKNOWN_SERVER_ERROR if result is None else result.error_code
            if code in _DONE:
                sending.missing.pop(partition, None)
            elif code in _FENCED:
                sending.refused[partition] = None
                _tell(sending, partition, code)
            else:
                left.append(partition)
        if left:
            self._try_again(Batch(sending, left))
        self._finish_if_done(sending)

    def _finish_if_done(self, sending: Sending) -> None:
        if not sending.missing and not sending.is_over:
            sending.is_over = True
            del self._sendings[sending.ended.transactional_id]
            self._on_done(sending)

    # ---- again

    def _try_again(self, batch: Batch) -> None:
        self._again.append(batch)
        if self._timer is None:
            self._timer = self._scheduler.call_later(RETRY_MS, self._retry)

    def _retry(self) -> None:
        """Retry; the leaders may have changed."""
        self._timer = None
        again, self._again = self._again, []
        for batch in again:
            if not batch.sending.is_over:
                self._queue(batch.sending, batch.partitions)
        self.send_queued()


def _tell(sending: Sending, partition: TopicPartition, code: int) -> None:
    if partition not in sending.told:
        sending.told.add(partition)
        _log.info(
            "%s: %s rejected the marker with %s: it knows of a newer coordinator or producer epoch",
            sending.ended.transactional_id,
            partition,
            error_name(code),
        )
