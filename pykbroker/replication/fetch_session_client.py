"""The client side of an incremental fetch session (KIP-227).

    (0, 0)  everything      first, if the leader has no session, and after an answer to everything
                            with other partitions than asked -> id of the session, 0: none
    (id, 0) everything      after no answer, an error or a partition that was not asked for in the
                            session: ends the session, makes another
    (id, n) what changed    after that -> what changed

State: the session's id and next epoch, what is asked of each partition, and what of it changed.
In:  `add`, `forget`, `answered`, `failed`. Out: what the next request has to contain.
Source: Kafka's `FetchSessionHandler.java`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykbroker.errors import ErrorCode
from pykbroker.values import NamedTuple

NO_SESSION = 0
INITIAL_EPOCH = 0
MAX_EPOCH = 0x7FFFFFFF

PartitionKey = tuple[bytes, int]
"""(topic id, partition)."""


class Asked(NamedTuple):
    """What is asked of a partition; the leader's session remembers it."""

    fetch_offset: int
    leader_epoch: int
    last_fetched_epoch: int
    log_start_offset: int


class FetchSessionClient:
    """The client side of an incremental fetch session."""

    __slots__ = ("_changed", "_forgotten", "asked", "epoch", "id")

    def __init__(self) -> None:
        self.id = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self.asked: dict[PartitionKey, Asked] = {}
        self._changed: dict[PartitionKey, None] = {}
        self._forgotten: dict[PartitionKey, None] = {}

    @property
    def is_full(self) -> bool:
        """Whether the next request contains every partition."""
        return self.epoch == INITIAL_EPOCH

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to request and nothing to remove."""
        return not self.asked and (self.is_full or not self._forgotten)

    def add(self, key: PartitionKey, asked: Asked) -> None:
        """Request a partition, or change what is asked of it."""
        if self.asked.get(key) == asked:
            return
        self.asked[key] = asked
        self._changed[key] = None
        self._forgotten.pop(key, None)

    def forget(self, key: PartitionKey) -> None:
        """Stop requesting the partition."""
        if self.asked.pop(key, None) is not None:
            self._changed.pop(key, None)
            self._forgotten[key] = None

    def take_request(self) -> tuple[list[PartitionKey], list[PartitionKey]]:
        """Return (partitions to name, partitions to forget) for the next
        request, which is sent now.
        """
        named = list(self.asked if self.is_full else self._changed)
        forgotten = [] if self.is_full else list(self._forgotten)
        self._changed = {}
        self._forgotten = {}
        return named, forgotten

    def failed(self) -> None:
        """Start over, because there was no usable answer and the leader may have advanced."""
        self.epoch = INITIAL_EPOCH

    def answered(self, code: int, session_id: int, keys: Iterable[PartitionKey]) -> bool:
        """Process an answer with entries of `keys`; return False if it is unusable."""
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
