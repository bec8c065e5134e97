"""The start offsets of leader epochs: the partition's `leader-epoch-checkpoint`.

State   (epoch, start offset) pairs, both strictly ascending.
In      epochs of appended batches and of a new leader, truncations at either end, queries.
Out     answers; a mutator returns True if the checkpoint file has to be rewritten.
Invariants
    An epoch's records are between its start offset and that of the next epoch; those of the latest
    epoch reach to the log's end.

The file (checkpoints.py): version 0, the number of entries, then `epoch start_offset` a line.
Source: Kafka's LeaderEpochFileCache.java; KIP-101, KIP-279.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from pykbroker.log.directories.checkpoints import format_leader_epochs, parse_leader_epochs

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class LeaderEpochs:
    """The leader epochs of one log."""

    __slots__ = ("_epochs", "_starts")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)

    @classmethod
    def from_bytes(cls, payload: bytes, name: str) -> LeaderEpochs:
        """Read a checkpoint; raises CorruptCheckpoint, which names the wrong line."""
        return cls(parse_leader_epochs(payload, name))

    def to_bytes(self) -> bytes:
        return format_leader_epochs(self.entries)

    @property
    def entries(self) -> list[tuple[int, int]]:
        """(epoch, start offset), oldest first."""
        return list(zip(self._epochs, self._starts, strict=True))

    @property
    def latest_epoch(self) -> int | None:
        return self._epochs[-1] if self._epochs else None

    @property
    def earliest(self) -> tuple[int, int] | None:
        return (self._epochs[0], self._starts[0]) if self._epochs else None

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Record that `epoch` has records from `start_offset` on; remove contradicting entries."""
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"leader epoch {epoch} at offset {start_offset}")
        epochs = self._epochs
        starts = self._starts
        if epochs and epoch == epochs[-1] and start_offset >= starts[-1]:
            return False
        while epochs and (epochs[-1] >= epoch or starts[-1] >= start_offset):
            epochs.pop()
            starts.pop()
        epochs.append(epoch)
        starts.append(start_offset)
        return True

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Return (the largest known epoch not above `epoch`, its end); (-1, -1) if `epoch` is -1 or
        above all known ones, or none is known.

        An epoch older than all known ones ends where the oldest known one begins.
        """
        epochs = self._epochs
        if epoch == UNDEFINED_EPOCH or not epochs:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == epochs[-1]:
            return epoch, log_end_offset
        higher = bisect_right(epochs, epoch)
        if higher == len(epochs):
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        return (epoch if higher == 0 else epochs[higher - 1]), self._starts[higher]

    def epoch_for_offset(self, offset: int) -> int | None:
        """Return the last epoch that begins at or below `offset`; None if none does."""
        index = bisect_right(self._starts, offset)
        return self._epochs[index - 1] if index else None

    def next_epoch(self, epoch: int) -> int | None:
        """Return the smallest known epoch above `epoch`; None if there is none."""
        index = bisect_right(self._epochs, epoch)
        return self._epochs[index] if index < len(self._epochs) else None

    def truncate_from_end(self, end_offset: int) -> bool:
        """Remove epochs that begin at or after `end_offset`."""
        changed = False
        while end_offset >= 0 and self._starts and self._starts[-1] >= end_offset:
            self._epochs.pop()
            self._starts.pop()
            changed = True
        return changed

    def truncate_from_start(self, start_offset: int) -> bool:
        """Remove epochs that end at or before `start_offset`; the one that contains it then begins
        there.
        """
        index = bisect_right(self._starts, start_offset)
        if index == 0 or (index == 1 and self._starts[0] == start_offset):
            return False
        del self._epochs[: index - 1]
        del self._starts[: index - 1]
        self._starts[0] = start_offset
        return True

    def clear(self) -> bool:
        changed = bool(self._epochs)
        self._epochs.clear()
        self._starts.clear()
        return changed

    def __repr__(self) -> str:
        return f"LeaderEpochs({self.entries})"
