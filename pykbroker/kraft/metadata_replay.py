"""Replays records of the metadata log on top of an image, metadata transactions included (KIP-868).

    ... record record BEGIN record record END record ...
        `-- stable --'|`-- not yet seen --'|`- stable

State: `stable`, the image that may be published; the delta of the records replayed since; the
records of a transaction that has not ended.
In:  `replay(records, ...)`, in the order of the log.
Out: steps from one stable image to the next; `latest`, the image including an open transaction.
Invariants: the changes of a transaction are in no stable image before its end; an aborted
transaction leaves no trace. InconsistentMetadata: the markers do not match, or a record does not
fit.
Source: Kafka's `MetadataBatchLoader.java`, `OffsetControlManager.java`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykbroker.decision import MetadataRecord
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.kraft.delta import InconsistentMetadata, MetadataDelta
from pykbroker.kraft.image import MetadataImage, Provenance
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.clear_elr_record import ClearElrRecord
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord
from pykbroker.values import NamedTuple


class Step(NamedTuple):
    """A step from one stable image to the next."""

    delta: MetadataDelta
    image: MetadataImage


class MetadataReplay:
    """Replays the metadata log on top of an image."""

    def __init__(self, image: MetadataImage) -> None:
        self.stable = image
        self._delta = MetadataDelta(image)
        # The records of a transaction that has not ended; None outside of one.
        self._open: list[MetadataRecord] | None = None
        self._provenance = image.provenance

    @property
    def in_transaction(self) -> bool:
        """Whether a metadata transaction is open. Its records are not in `stable`."""
        return self._open is not None

    def copy(self) -> MetadataReplay:
        """Return a second replay from the same place; outside a transaction this costs nothing.
        Raises RuntimeError if there are changes that no step has sealed.
        """
        twin = MetadataReplay(self.stable)
        twin._provenance = self._provenance
        if self._open is not None:
            twin._open = list(self._open)
            for record in self._open:
                twin._delta.replay(record.message, record.version)
        elif not self._delta.is_empty:
            raise RuntimeError("changes that no step has sealed cannot be copied")
        return twin

    def replay(
        self,
        records: Sequence[MetadataRecord],
        base_offset: int,
        epoch: int,
        timestamp_ms: int,
        breathe: Breathe = go_on,
    ) -> list[Step]:
        """Apply records, the first of them at `base_offset`; `breathe` is called before each, and
        inside one that changes many partitions.

        Returns the steps that end before a transaction inside `records` begins; `seal` returns the
        one that ends with them. Raises InconsistentMetadata.
        """
        steps: list[Step] = []
        offset = base_offset - 1
        for record in records:
            breathe()
            offset += 1
            kind = type(record.message)
            if kind is BeginTransactionRecord:
                if self._open is not None:
                    raise InconsistentMetadata("a metadata transaction begins inside another")
                self._provenance = Provenance(offset - 1, epoch, timestamp_ms)
                steps.append(self._step(breathe))
                self._open = []
            elif kind is EndTransactionRecord:
                self._leave_transaction()
            elif kind is AbortTransactionRecord:
                self._leave_transaction()
                self._delta = MetadataDelta(self.stable)
            else:
                if kind is ClearElrRecord:
                    self._delta.clear_eligible_leaders(record.message, breathe)
                else:
                    self._delta.replay(record.message, record.version)
                if self._open is not None:
                    self._open.append(record)
        self.advance(Provenance(offset, epoch, timestamp_ms))
        return steps

    def advance(self, provenance: Provenance) -> None:
        """Record that the log reaches this far; control records change no metadata."""
        self._provenance = provenance

    def _leave_transaction(self) -> None:
        if self._open is None:
            raise InconsistentMetadata("a metadata transaction ends that did not begin")
        self._open = None

    def seal(self, breathe: Breathe = go_on) -> Step | None:
        """Make everything replayed the stable image and return the step; None inside a transaction.
        `breathe` is called before there is one.
        """
        return None if self._open is not None else self._step(breathe)

    def _step(self, breathe: Breathe) -> Step:
        delta = self._delta
        self.stable = delta.apply(self._provenance, breathe)
        self._delta = MetadataDelta(self.stable)
        return Step(delta, self.stable)

    def latest(self) -> MetadataImage:
        """The image with everything replayed, including an open transaction."""
        if self._open is None and self._delta.is_empty:
            return self.stable
        return self._delta.apply(self._provenance)
