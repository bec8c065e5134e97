"""Replays what is committed into the image of the cluster, and tells the rest of the node.

State: the image; the delta of a metadata transaction that has not ended.
In:    `on_commit(batches)`. Out: `apply(delta, image)` of every publisher, in their fixed order.
Invariants: an image is published only at the end of a batch and outside a transaction; publishers
see every change, in order, each image once; a publisher that raises is a bug: it is not caught.
The order matters: what serves clients (the replica manager, the coordinators) is told before what
clients ask (the metadata view), so that nobody is sent to a partition that is not there yet.
Source: Kafka's `MetadataLoader.java`, `MetadataBatchLoader.java`, `BrokerMetadataPublisher.scala`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pykbroker.kraft.delta import InconsistentMetadata, MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.metadata_snapshot import Snapshot
from pykbroker.kraft.metadata_version import unsupported_features
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord


class UnsupportedCluster(Exception):
    """The cluster has finalised features that this broker does not know."""


class Publisher(Protocol):
    """A part of the node that follows the metadata."""

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """The metadata is `image` now; `delta` says what changed since the last call."""


class MetadataLoader:
    """See the module's text."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self._publishers: list[Publisher] = []
        self._delta = MetadataDelta(self.image)
        # The provenance up to which a transaction had not begun; None outside of one.
        self._before_transaction: Provenance | None = None
        self.bytes_since_snapshot = 0

    @property
    def in_transaction(self) -> bool:
        """Is a metadata transaction open? Its records do not show yet."""
        return self._before_transaction is not None

    def load_snapshot(self, snapshot: Snapshot) -> None:
        """Begin with what a snapshot holds."""
        delta = MetadataDelta(MetadataImage())
        for record in snapshot.records:
            delta.replay(record.message, record.version)
        at = Provenance(
            snapshot.id.offset - 1, snapshot.id.epoch, snapshot.last_contained_log_timestamp_ms
        )
        self.image = delta.apply(at)
        self._check_features()
        self._delta = MetadataDelta(self.image)

    def publish_to(self, publishers: Sequence[Publisher]) -> None:
        """Tell these, in this order: all there is now, then every change."""
        everything = delta_of_all(self.image)
        for publisher in publishers:
            publisher.apply(everything, self.image)
        self._publishers += publishers

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """Replay committed batches, then publish once for all of them."""
        for batch in batches:
            self.bytes_since_snapshot += batch.size_bytes
            self._replay(batch)
        if self._before_transaction is None:
            last = batches[-1]
            self._publish(Provenance(last.last_offset, last.epoch, last.timestamp_ms))

    def _replay(self, batch: LogBatch) -> None:
        offset = batch.base_offset - 1
        for record in batch.records:
            offset += 1
            kind = type(record.message)
            if kind is BeginTransactionRecord:
                if self._before_transaction is not None:
                    raise InconsistentMetadata("a metadata transaction begins inside another")
                before = Provenance(offset - 1, batch.epoch, batch.timestamp_ms)
                self._publish(before)
                self._before_transaction = before
            elif kind is EndTransactionRecord:
                self._leave_transaction()
            elif kind is AbortTransactionRecord:
                self._leave_transaction()
                self._delta = MetadataDelta(self.image)
            else:
                self._delta.replay(record.message, record.version)

    def _leave_transaction(self) -> None:
        if self._before_transaction is None:
            raise InconsistentMetadata("a metadata transaction ends that did not begin")
        self._before_transaction = None

    def _publish(self, provenance: Provenance) -> None:
        delta = self._delta
        self.image = delta.apply(provenance)
        self._delta = MetadataDelta(self.image)
        if delta.features:
            self._check_features()
        if not delta.is_empty:
            for publisher in self._publishers:
                publisher.apply(delta, self.image)

    def _check_features(self) -> None:
        reasons = unsupported_features(self.image.features)
        if reasons:
            raise UnsupportedCluster("This broker cannot serve the cluster: " + "; ".join(reasons))


def delta_of_all(image: MetadataImage) -> MetadataDelta:
    """A delta from nothing to `image`: what a publisher is told first."""
    delta = MetadataDelta(MetadataImage())
    delta.topics = dict(image.topics_by_id)
    delta.changed_partitions = {
        topic.id: set(topic.partitions) for topic in image.topics_by_id.values()
    }
    delta.brokers = dict(image.brokers)
    delta.controllers = dict(image.controllers)
    delta.configs = dict(image.configs)
    delta.features = dict(image.features)
    delta.next_producer_id = image.next_producer_id
    return delta
