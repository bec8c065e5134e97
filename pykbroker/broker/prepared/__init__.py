"""Prepared requests: serve a request faster because one like it came before.

A client's requests of one API differ from one to the next in correlation id, offsets and records.
When the general path (`handlers/`) has served one, the API may prepare for the next: it remembers
the bytes that will be the same and what they mean. A request that begins with these bytes is then
served without being decoded into messages; any other request, and any unusual condition, is left to
the general path, which starts from the beginning.

Only the meaning of the bytes is remembered, not the state of what they refer to: topics,
partitions, leaders and settings are looked up each time. So nothing becomes invalid when they
change.

Invariant: a response has the bytes that the general path's would have, and the same effects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

from pykbroker.network.request import PreparedConnection, Request

MISSED = 0
"""Nothing was done: it is the general path's."""
SERVED = 1
"""It is answered, or will be."""
GATHERED = 2
"""It is answered at the end of the round, in its turn: the next one like it may be served now."""

HEAD_BYTES = 8
"""API key, version and correlation id, with which every request begins."""
CORRELATION_ID_AT = 4
"""Where the correlation id is in a framed reply: behind the length."""

TRIES = 8
FIRST_PATIENCE = 32
MOST_PATIENCE = 1 << 20

Answer: TypeAlias = Callable[[Request, Any], None]
"""Answers a request as the worker answers it with the outcome of a handler."""


class PreparedRequest(ABC):
    """What one connection's requests of one API and version have in common.

    State: how often in a row it did not match. After TRIES times it is not tried any more; after
    as many requests as it has patience for it is prepared again, then with twice the patience: a
    client whose requests never repeat costs little.
    """

    __slots__ = ("_misses", "_patience")

    def __init__(self) -> None:
        self._misses = 0
        self._patience = FIRST_PATIENCE

    @property
    def is_tried(self) -> bool:
        """Whether it is worth a try."""
        return self._misses < TRIES

    def matched(self) -> None:
        """Note a request that was served."""
        self._misses = 0
        self._patience = FIRST_PATIENCE

    def missed(self) -> bool:
        """Note a request that was left to the general path; return whether to prepare again."""
        self._misses += 1
        return self._misses >= self._patience

    def replace(self, known: PreparedRequest) -> None:
        """Take the place of one that missed too often: with more patience."""
        self._patience = min(2 * known._patience, MOST_PATIENCE)

    @abstractmethod
    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        """Serve the request in `frame` from `start` to `end`; return MISSED, SERVED or GATHERED.

        The request has at least HEAD_BYTES, and this API and version. now_ms: when it was received.

        MISSED: nothing was changed and no counter moved. GATHERED: the connection gets its one
        answer at the end of this round, whatever happens until then, and after those that were
        gathered before it; for anything that may be answered later, or at once, SERVED.
        """


Prepare: TypeAlias = Callable[[Any, Request, Answer], PreparedRequest | None]
"""`prepare(services, request, answer)`: for more like a request that was served; None: no use."""
