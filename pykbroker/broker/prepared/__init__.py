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

FIRST_PATIENCE = 32

Answer: TypeAlias = Callable[[Request, Any], None]
"""Answers a request as the worker answers it with the outcome of a handler."""


class PreparedRequest(ABC):
    """What one connection's requests of one API and version have in common.

    State, kept by `preparing.py`: how often in a row it did not match (`misses`), and for how many
    misses to wait until it is prepared again (`patience`).
    """

    __slots__ = ("misses", "patience")

    def __init__(self) -> None:
        self.misses = 0
        self.patience = FIRST_PATIENCE

    @abstractmethod
    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
    ) -> int:
        """Serve the request in `frame` from `start` to `end`; return MISSED, SERVED or GATHERED.

        The request has at least the eight bytes up to its correlation id, and this API and version.

        MISSED: nothing was changed and no counter moved. GATHERED: the connection gets its one
        answer at the end of this round, whatever happens until then, and after those that were
        gathered before it; for anything that may be answered later, or at once, SERVED.
        """


Prepare: TypeAlias = Callable[[Any, Request, Answer], PreparedRequest | None]
"""`prepare(services, request, answer)`: for more like a request that was served; None: no use."""
