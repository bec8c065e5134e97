"""Prepared requests: what a request needs no more because one like it came before.

A client's requests of one API differ from one to the next in correlation id, offsets and records.
When the general path (`handlers/`) has served one, the API may prepare for the next: it remembers
the bytes that will be the same and what they mean. A request that begins with these bytes is then
served without being decoded into messages; any other, and whatever is out of the ordinary about
one, is left to the general path, from the beginning.

Only what the bytes mean is remembered, nothing of what they are about: topics, partitions, leaders
and settings are looked up each time. So nothing has to be forgotten when they change.

Invariant: an answer has the bytes that the general path's would have, and does what it does.
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
"""It is answered at the end of the round, and so the next one like it may be served before that."""

TRIES = 8
FIRST_PATIENCE = 32
MOST_PATIENCE = 1 << 20

Answer: TypeAlias = Callable[[Request, Any], None]
"""Answers a request as the worker answers it with the outcome of a handler."""


class PreparedRequest(ABC):
    """What one connection's requests of one API and version have in common.

    State: how often in a row it did not fit (`misses`). After TRIES it is not asked any more, and
    after `patience` requests prepared anew, then with twice the patience.
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
        """Serve the request that lies in `frame` from `start` to `end`; MISSED, SERVED, GATHERED.

        It has at least the eight bytes up to its correlation id, and this API and version.
        """


Prepare: TypeAlias = Callable[[Any, Request, Answer], PreparedRequest | None]
"""`prepare(services, request, answer)`: for more like a request that was served; None: no use."""
