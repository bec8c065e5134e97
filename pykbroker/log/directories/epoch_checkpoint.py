"""`leader-epoch-checkpoint`: the leader epochs of a log.

State: leader_epochs.LeaderEpochs, read from the file at the start; whether the file is out of date.
Invariants: the file on disk is correct for the batches below the recovery point, because a flush
       writes it before it moves that point. For the rest, recovery takes the epochs from the
       batches. So no change of epoch waits for an fsync.
Source: Kafka's LeaderEpochFileCache.java.
"""

from __future__ import annotations

import logging

from pykbroker.environment.files import Files
from pykbroker.log.directories.checkpoints import LEADER_EPOCH_CHECKPOINT, CorruptCheckpoint
from pykbroker.log.partition.leader_epochs import LeaderEpochs

_log = logging.getLogger(__name__)


class EpochCheckpoint:
    """The epochs of one log. Changes may raise OSError."""

    __slots__ = ("_files", "_has_durable_file", "epochs", "is_dirty", "latest_epoch", "path")

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self.path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"
        self._has_durable_file = False
        self.is_dirty = False
        self.epochs = self._read()
        self.latest_epoch = self.epochs.latest_epoch
        """As `epochs` says; kept here because each append compares with it."""

    def _read(self) -> LeaderEpochs:
        try:
            found = LeaderEpochs.from_bytes(self._files.read_file(self.path), self.path)
        except FileNotFoundError:
            return LeaderEpochs()
        except CorruptCheckpoint as fault:
            # Recovery rebuilds the epochs from the batches that it checks.
            _log.error("%s; starting without leader epochs", fault)
            return LeaderEpochs()
        self._has_durable_file = True
        return found

    def move_to(self, directory: str) -> None:
        self.path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"

    def _changed(self) -> None:
        self.latest_epoch = self.epochs.latest_epoch
        self.is_dirty = True
        if not self._has_durable_file:  # nothing is lost if a crash tears it
            self._files.write_file(self.path, self.epochs.to_bytes())

    def take_content(self) -> bytes | None:
        """Return what a flush must write, replacing the file; None if nothing has changed since
        the last call.
        """
        if not self.is_dirty:
            return None
        self.is_dirty = False
        self._has_durable_file = True
        return self.epochs.to_bytes()

    def assign(self, epoch: int, start_offset: int) -> None:
        if self.epochs.assign(epoch, start_offset):
            self._changed()

    def truncate_from_end(self, end_offset: int) -> None:
        if self.epochs.truncate_from_end(end_offset):
            self._changed()

    def truncate_from_start(self, start_offset: int) -> None:
        if self.epochs.truncate_from_start(start_offset):
            self._changed()

    def clear(self) -> None:
        if self.epochs.clear():
            self._changed()

    @property
    def earliest(self) -> tuple[int, int] | None:
        """Return (epoch, start offset) of the first entry; None if there is none."""
        return self.epochs.earliest

    def epoch_for_offset(self, offset: int) -> int | None:
        return self.epochs.epoch_for_offset(offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        return self.epochs.end_offset_for(epoch, log_end_offset)
