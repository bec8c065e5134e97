"""Replays what is committed into the image of the cluster, and tells the rest of the node.

State: a `MetadataReplay` of what is committed, with the published image.
In:    `on_commit(batches)`, `load_snapshot`.
Out:   `apply(delta, image)` of every publisher, in their fixed order.
Invariants: an image is published only at the end of a batch and outside a transaction; publishers
see every change, in order, each image once; a publisher that raises is a bug: it is not caught.
The order matters: what serves clients (the replica manager, the coordinators) is told before what
clients ask (the metadata view), so that nobody is sent to a partition that is not there yet.
Source: Kafka's `MetadataLoader.java`, `MetadataBatchLoader.java`, `BrokerMetadataPublisher.scala`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pykbroker.kraft.delta import MetadataDelta, delta_between
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.metadata_replay import MetadataReplay, Step
from pykbroker.kraft.metadata_snapshot import Snapshot
from pykbroker.kraft.metadata_version import unsupported_features


class UnsupportedCluster(Exception):
    """The cluster has finalised features that this broker does not know."""


class Publisher(Protocol):
    """A part of the node that follows the metadata."""

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """The metadata is `image` now; `delta` says what changed since the last call."""


class MetadataLoader:
    """See the module's text."""

    def __init__(self) -> None:
        self._replay = MetadataReplay(MetadataImage())
        self._publishers: list[Publisher] = []
        self.bytes_since_snapshot = 0

    @property
    def image(self) -> MetadataImage:
        """The metadata as it is committed and published."""
        return self._replay.stable

    @property
    def in_transaction(self) -> bool:
        """Is a metadata transaction open? Its records do not show yet."""
        return self._replay.in_transaction

    def committed(self) -> MetadataReplay:
        """All that is committed, for a controller that becomes active: it goes on from there."""
        return self._replay.copy()

    def load_snapshot(self, snapshot: Snapshot) -> None:
        """Replace the image with what a snapshot holds, and tell the publishers what changed."""
        delta = MetadataDelta(MetadataImage())
        for record in snapshot.records:
            delta.replay(record.message, record.version)
        at = Provenance(
            snapshot.id.offset - 1, snapshot.id.epoch, snapshot.last_contained_log_timestamp_ms
        )
        before, image = self.image, delta.apply(at)
        check_features(image)
        self._replay = MetadataReplay(image)
        self.bytes_since_snapshot = 0
        if self._publishers:
            self._tell(delta_between(before, image), image)

    def publish_to(self, publishers: Sequence[Publisher]) -> None:
        """Tell these, in this order: all there is now, then every change."""
        everything = delta_between(MetadataImage(), self.image)
        for publisher in publishers:
            publisher.apply(everything, self.image)
        self._publishers += publishers

    def on_commit(self, batches: Sequence[LogBatch]) -> None:
        """Replay committed batches, then publish once for all of them."""
        replay = self._replay
        for batch in batches:
            self.bytes_since_snapshot += batch.size_bytes
            if batch.records:
                for step in replay.replay(
                    batch.records, batch.base_offset, batch.epoch, batch.timestamp_ms
                ):
                    self._publish(step)
        last = batches[-1]
        replay.advance(Provenance(last.last_offset, last.epoch, last.timestamp_ms))
        sealed = replay.seal()
        if sealed is not None:
            self._publish(sealed)

    def _publish(self, step: Step) -> None:
        if step.delta.features:
            check_features(step.image)
        if not step.delta.is_empty:
            self._tell(step.delta, step.image)

    def _tell(self, delta: MetadataDelta, image: MetadataImage) -> None:
        for publisher in self._publishers:
            publisher.apply(delta, image)


def check_features(image: MetadataImage) -> None:
    """UnsupportedCluster when this broker does not know what the cluster has finalised."""
    reasons = unsupported_features(image.features)
    if reasons:
        raise UnsupportedCluster("This broker cannot serve the cluster: " + "; ".join(reasons))


def delta_of_all(image: MetadataImage) -> MetadataDelta:
    """A delta from nothing to `image`: what a publisher is told first."""
    return delta_between(MetadataImage(), image)
