"""Replays committed records into the cluster image, and publishes it to the rest of the node.

    committed --replayed--> image --in order, a large change in slices--> published image

State: a `MetadataReplay` of committed records; the published image; unpublished changes.
In:    `on_commit(batches)`, one call after another; `load_snapshot`; `publish_to`,
       `stop_publishing`.
Out:   `apply(delta, image)` of every publisher, in their fixed order.
Invariants: an image is that of a snapshot, of the end of a batch, or of where a transaction begins
in one, never of the inside of a transaction; publishers receive the images in order, each at most
once. An exception in a publisher is a bug, which reaches the caller or, from a slice,
`on_fatal` or the Deferred of `publish_to`; so does UnsupportedCluster.
The order matters: the parts that serve clients (the replica manager, the coordinators) come before
the metadata view, so that no client is directed to a partition that is not there yet.
A publisher may breathe (`environment/slices.py`): the node then serves clients with the change
partly applied, as Kafka's request threads do, and records committed meanwhile are published
afterwards. The replay of a single record that changes very many partitions breathes as well; a
snapshot that is loaded meanwhile replaces what it replays.
Source: Kafka's `MetadataLoader.java`, `MetadataBatchLoader.java`, `BrokerMetadataPublisher.scala`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from pykbroker.deferred import Deferred
from pykbroker.environment.slices import Breathe, InOneGo, Slices, go_on
from pykbroker.kraft.delta import MetadataDelta, delta_between
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.kraft.metadata_image_loading import image_of
from pykbroker.kraft.metadata_log import LogBatch
from pykbroker.kraft.metadata_replay import MetadataReplay, Step
from pykbroker.kraft.metadata_snapshot import Snapshot
from pykbroker.kraft.metadata_version import unsupported_features
from pykbroker.protocol.messages.clear_elr_record import ClearElrRecord

FEW = 8  # changes of this many partitions are published without a pause
MANY = 500  # more partitions than this are not changed by a single record without a pause


class UnsupportedCluster(Exception):
    """This node cannot be a part of the cluster, mostly because that has finalised features that
    are not supported here.
    """


class Publisher(Protocol):
    """A part of the node that follows the metadata."""

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Apply new metadata `image`; `delta` contains the changes since the last call."""


class MetadataLoader:
    """Builds the image of the cluster and publishes it.

    on_fatal: called with an exception that a publisher raised in a slice, unless `publish_to` has
    not been answered: then its Deferred gets it. Outside of slices the caller gets it.
    """

    def __init__(
        self,
        slices: Slices | None = None,
        on_fatal: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._slices = slices or InOneGo()
        self._on_fatal = on_fatal
        self._replay = MetadataReplay(MetadataImage())
        self._publishers: list[Publisher] = []
        self._unpublished: deque[Callable[[], None]] = deque()
        self._unpublished_size = 0
        self._is_publishing = False
        self._is_stopped = False
        self._left: Deferred | None = None  # resolved once no publisher is used any more
        self._told: list[Deferred] = []
        self._newest = self._replay.stable  # what is published or waits to be
        self.image = self._replay.stable
        """The metadata as it is committed and published."""
        self.bytes_since_snapshot = 0

    @property
    def in_transaction(self) -> bool:
        """Whether a metadata transaction is open. Its records are not visible yet."""
        return self._replay.in_transaction

    def committed(self) -> MetadataReplay:
        """The committed state, from which a controller that becomes active continues."""
        return self._replay.copy()

    def load_snapshot(self, snapshot: Snapshot) -> None:
        """Replace the image by a snapshot, and publish the differences. Raises InconsistentMetadata
        or UnsupportedCluster.
        """
        before, image = self._newest, image_of(snapshot)
        check_features(image)
        self._replay = MetadataReplay(image)
        self._newest = image
        self.bytes_since_snapshot = 0

        def tell() -> None:
            difference = delta_between(before, image, self._slices.breathe)
            self._tell(Step(difference, image))

        if self._publishers:
            self._unpublished.append(tell)
            self._unpublished_size += before.partition_count + image.partition_count
        else:
            self._add(Step(MetadataDelta(image), image))
        self._publish()

    def publish_to(self, publishers: Sequence[Publisher]) -> Deferred:
        """Publish to these, in this order: the whole image now, then every change.

        Resolved with None once they have the whole image, or with an exception that one of them
        raised in a slice. A small image is published without slices: then the exception is raised
        here.
        """
        told = Deferred()

        def tell() -> None:
            everything = delta_between(MetadataImage(), self.image, self._slices.breathe)
            self._apply(publishers, everything, self.image)
            self._publishers += publishers

        self._told.append(told)
        self._unpublished.append(tell)
        self._unpublished_size += self._replay.stable.partition_count
        self._publish()
        return told

    def stop_publishing(self) -> Deferred | None:
        """Publish nothing more, because the publishers are being closed. The image stays as well:
        it is what they were told.

        Returns a Deferred if a publisher is in a slice of a long change: resolved with None when it
        has ended, and may be closed.
        """
        self._is_stopped = True
        if self._is_publishing:
            self._left = Deferred()
        return self._left

    def on_commit(
        self,
        batches: Sequence[LogBatch],
        published: Callable[[], None] | None = None,
        *,
        may_breathe: bool = False,
    ) -> Deferred | None:
        """Replay committed batches, then publish what they complete, then call `published`. If the
        last batch is delivered in part, publish and call once the rest of it has come.

        Returns None if they are replayed; with `may_breathe` perhaps a Deferred, resolved with None
        when they are, or with an exception. No other batches may come until then.
        """
        if may_breathe and self._takes_long(batches):
            return self._slices.run(
                "metadata replay",
                partial(self._replay_all, self._replay, batches, published, self._slices.breathe),
            )
        self._replay_all(self._replay, batches, published)
        return None

    def _takes_long(self, batches: Sequence[LogBatch]) -> bool:
        image = self._replay.stable
        return any(
            type(record.message) is ClearElrRecord and clears_many(image, record.message.topic_name)
            for batch in batches
            for record in batch.records
        )

    def _replay_all(
        self,
        replay: MetadataReplay,
        batches: Sequence[LogBatch],
        published: Callable[[], None] | None,
        breathe: Breathe = go_on,
    ) -> None:
        steps: list[Step] = []
        for batch in batches:
            if batch.records:
                steps += replay.replay(
                    batch.records, batch.base_offset, batch.epoch, batch.timestamp_ms, breathe
                )
        last = batches[-1]
        if last.is_end:
            replay.advance(Provenance(last.last_offset, last.epoch, last.timestamp_ms))
            sealed = replay.seal(breathe)
            if sealed is not None:
                steps.append(sealed)
        if self._replay is not replay:
            return  # a snapshot that was loaded meanwhile contains all this
        self.bytes_since_snapshot += sum(batch.size_bytes for batch in batches)
        for step in steps:
            self._add(step)
        if not last.is_end:
            return
        if published is not None:
            self._unpublished.append(published)
        self._publish()

    def _add(self, step: Step) -> None:
        self._newest = step.image
        self._unpublished.append(partial(self._tell, step))
        self._unpublished_size += size_of(step.delta)

    def _publish(self) -> None:
        """Publish pending changes: immediately if small, otherwise in slices."""
        if self._is_publishing:
            return
        self._is_publishing = True
        if self._unpublished_size > FEW:
            job = self._slices.run("metadata publisher", self._publish_in_slices)
            job.on_resolved(self._published_all)
        else:
            try:
                self._publish_all()
            finally:
                self._is_publishing = False
            self._resolve_waiters(None)

    def _publish_all(self, breathe: Breathe = go_on) -> None:
        while self._unpublished:
            self._unpublished.popleft()()
            breathe()
        self._unpublished_size = 0

    def _publish_in_slices(self) -> None:
        self._publish_all(self._slices.breathe)

    def _published_all(self, failure: BaseException | None) -> None:
        self._is_publishing = False
        if failure is not None and not self._told:
            if self._on_fatal is None:
                raise failure
            self._on_fatal(failure)
        self._resolve_waiters(failure)

    def _resolve_waiters(self, failure: BaseException | None) -> None:
        """Resolve outside the slices, because the waiters of `publish_to` and `stop_publishing` are
        not part of the publishing.
        """
        told, self._told = self._told, []
        for deferred in told:
            deferred.resolve(failure)
        left, self._left = self._left, None
        if left is not None:
            left.resolve(None)

    def _tell(self, step: Step) -> None:
        delta, image = step
        if delta.features:
            check_features(image)
        if not delta.is_empty:
            self._apply(self._publishers, delta, image)
        if not self._is_stopped:
            self.image = image

    def _apply(
        self, publishers: Sequence[Publisher], delta: MetadataDelta, image: MetadataImage
    ) -> None:
        for publisher in publishers:
            if self._is_stopped:
                return
            publisher.apply(delta, image)


def size_of(delta: MetadataDelta) -> int:
    """Return how many partitions and configurations a delta creates, changes or deletes."""
    changed = delta.changed_partitions
    return (
        sum(
            len(changed.get(topic_id, topic.partitions))
            for topic_id, topic in delta.changed_topics.items()
        )
        + sum(len(topic.partitions) for topic in delta.deleted_topics.values())
        + len(delta.configs)
    )


def clears_many(image: MetadataImage, topic_name: str) -> bool:
    """Return whether clearing the eligible leaders of a topic, or of all (an empty name), looks at
    very many partitions.
    """
    if not topic_name:
        return image.partition_count > MANY
    topic = image.topics_by_name.get(topic_name)
    return topic is not None and len(topic.partitions) > MANY


def check_features(image: MetadataImage) -> None:
    """Raise UnsupportedCluster if this broker does not support what the cluster has finalised."""
    reasons = unsupported_features(image.features)
    if reasons:
        raise UnsupportedCluster("This broker cannot serve the cluster: " + "; ".join(reasons))


def delta_of_all(image: MetadataImage) -> MetadataDelta:
    """Return a delta from nothing to `image`, for a publisher that begins with it."""
    return delta_between(MetadataImage(), image)
