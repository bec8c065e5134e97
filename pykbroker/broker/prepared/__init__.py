"""Prepared requests: serve a request faster because one like it came before.

A client's requests of one API often differ only in correlation id, offsets and records. When the
general path (`handlers/`) has served one, the API may prepare for the next: it remembers the bytes
that will be the same and what they mean. A request with these bytes is then served without being
decoded into messages first. Any other request is left to the general path, which starts from the
beginning, and so are the unusual conditions that are found before the request has had an effect.

What may change meanwhile (topics, partitions, leaders, settings) is looked up for each request, or
what is remembered of it is compared with what it is now.

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

    State: how many requests in a row the general path has served instead. After TRIES of them it is
    not tried any more; after as many as its patience the API prepares again, and what it prepares
    then has twice the patience (at most MOST_PATIENCE). If it prepares nothing, its patience grows
    likewise.
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
        """Have twice the patience of `known`, whose place this takes: at most MOST_PATIENCE."""
        self._patience = min(2 * known._patience, MOST_PATIENCE)

    def put_off(self) -> None:
        """Prepare again after as many misses as until now (at most MOST_PATIENCE more), because
        nothing could be prepared for the last request.
        """
        self._patience += min(self._misses, MOST_PATIENCE)

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

        The request has at least HEAD_BYTES, and this API and version. now_ms: when the turn of the
        worker began.

        MISSED: the request had no effect. GATHERED: it is answered (with acks=0: completed without
        a reply) at the end of this round at the latest, after those that were gathered before it.
        SERVED: it has been answered, or may be answered later.
        """


Prepare: TypeAlias = Callable[[Any, Request, Answer], PreparedRequest | None]
"""`prepare(services, request, answer)`: for more like a request that was served; None: no use."""
