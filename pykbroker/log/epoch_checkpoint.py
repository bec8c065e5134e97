"""`leader-epoch-checkpoint`: the leader epochs of a log, on disk as soon as they change.

State: leader_epochs.LeaderEpochs, read when first used. In: epochs, offsets. Out: what it answers.
Invariant: an epoch is in the file, synced, before a batch of it is written.
Source: Kafka's LeaderEpochFileCache.java.
"""

from __future__ import annotations

import logging

from pykbroker.log.checkpoints import LEADER_EPOCH_CHECKPOINT, CorruptCheckpoint
from pykbroker.log.files import Files
from pykbroker.log.leader_epochs import LeaderEpochs

_log = logging.getLogger(__name__)


class EpochCheckpoint:
    """The epochs of one log. Changes raise OSError when they cannot be written."""

    __slots__ = ("_epochs", "_files", "_path")

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        self._path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"
        self._epochs: LeaderEpochs | None = None

    @property
    def epochs(self) -> LeaderEpochs:
        if self._epochs is None:
            try:
                payload = self._files.read_file(self._path)
                self._epochs = LeaderEpochs.from_bytes(payload, self._path)
            except FileNotFoundError:
                self._epochs = LeaderEpochs()
            except CorruptCheckpoint as fault:
                # Recovery builds the epochs again from the batches that it checks.
                _log.error("%s; starting without leader epochs", fault)
                self._epochs = LeaderEpochs()
        return self._epochs

    def move_to(self, directory: str) -> None:
        self._path = f"{directory}/{LEADER_EPOCH_CHECKPOINT}"

    def write(self) -> None:
        self._files.replace_file(self._path, self.epochs.to_bytes())

    def assign(self, epoch: int, start_offset: int) -> None:
        if self.epochs.assign(epoch, start_offset):
            self.write()

    def truncate_from_end(self, end_offset: int) -> None:
        if self.epochs.truncate_from_end(end_offset):
            self.write()

    def truncate_from_start(self, start_offset: int) -> None:
        if self.epochs.truncate_from_start(start_offset):
            self.write()

    def clear(self) -> None:
        if self.epochs.clear():
            self.write()

    def latest_epoch(self) -> int | None:
        return self.epochs.latest_epoch

    def earliest(self) -> tuple[int, int] | None:
        """(epoch, start offset) of the first entry."""
        return self.epochs.earliest

    def epoch_for_offset(self, offset: int) -> int | None:
        return self.epochs.epoch_for_offset(offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        return self.epochs.end_offset_for(epoch, log_end_offset)
