"""An incremental fetch session as its client keeps it (KIP-227).

    first, or the leader lost it      (0, 0) everything          -> id of the session, 0: none made
    the leader's answer was odd       (id, 0) everything         ends the session, makes another
    after that                        (id, n) what changed       -> what changed

State: the session's id and next epoch, and what the leader knows of each partition.
In:  `add`, `forget`, `answered`, `failed`. Out: what the next request has to name.
Source: Kafka's `FetchSessionHandler.java`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pykbroker.errors import ErrorCode

NO_SESSION = 0
INITIAL_EPOCH = 0
MAX_EPOCH = 0x7FFFFFFF

PartitionKey = tuple[bytes, int]
"""(topic id, partition)."""


class Asked(NamedTuple):
    """What the leader knows of a partition in the session."""

    fetch_offset: int
    leader_epoch: int
    last_fetched_epoch: int
    log_start_offset: int


class FetchSessionClient:
    """See the module's text."""

    __slots__ = ("_changed", "_forgotten", "asked", "epoch", "id")

    def __init__(self) -> None:
        self.id = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self.asked: dict[PartitionKey, Asked] = {}
        self._changed: dict[PartitionKey, None] = {}
        self._forgotten: dict[PartitionKey, None] = {}

    @property
    def is_full(self) -> bool:
        """Does the next request name every partition?"""
        return self.epoch == INITIAL_EPOCH

    @property
    def is_idle(self) -> bool:
        """Is there nothing to ask for, and nothing to take back?"""
        return not self.asked and (self.is_full or not self._forgotten)

    def add(self, key: PartitionKey, asked: Asked) -> None:
        """Ask for a partition, or for another offset of it."""
        if self.asked.get(key) == asked:
            return
        self.asked[key] = asked
        self._changed[key] = None
        self._forgotten.pop(key, None)

    def forget(self, key: PartitionKey) -> None:
        """Ask for the partition no more."""
        if self.asked.pop(key, None) is not None:
            self._changed.pop(key, None)
            self._forgotten[key] = None

    def take_request(self) -> tuple[list[PartitionKey], list[PartitionKey]]:
        """(partitions to name, partitions to forget) of the next request, which is now sent."""
        named = list(self.asked if self.is_full else self._changed)
        forgotten = [] if self.is_full else list(self._forgotten)
        self._changed = {}
        self._forgotten = {}
        return named, forgotten

    def failed(self) -> None:
        """No usable answer came: the leader may have gone on, so begin again."""
        self.epoch = INITIAL_EPOCH

    def answered(self, code: int, session_id: int, keys: Iterable[PartitionKey]) -> bool:
        """Take in an answer with entries of `keys`; False: nothing of it can be used."""
        if code:
            if code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                self.id = NO_SESSION
            self.epoch = INITIAL_EPOCH
            return False
        found = set(keys)
        if self.is_full:
            if found != self.asked.keys():
                self.id = NO_SESSION
                return False
            self.id = session_id
            self.epoch = INITIAL_EPOCH if session_id == NO_SESSION else 1
            return True
        if not found <= self.asked.keys():
            self.epoch = INITIAL_EPOCH
            return False
        if session_id == NO_SESSION:
            self.id = NO_SESSION
            self.epoch = INITIAL_EPOCH
        else:
            self.epoch = 1 if self.epoch == MAX_EPOCH else self.epoch + 1
        return True
