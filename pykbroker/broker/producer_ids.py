"""Assigns producer ids, from blocks that the controller has allocated to this broker.

    current block  |####......|   next block  |..........| or requested, or none

The controller allocates blocks of 1000 ids. The next one is requested when 90% of the current one
are used, so that as a rule only the very first caller waits.
No id is assigned twice: the controller allocates each block once, and a block that starts below the
end of the previous one is not used.
Source: Kafka's `RPCProducerIdManager` (which makes clients retry instead of wait).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from pykbroker.deferred import Deferred, Waiters
from pykbroker.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pykbroker.protocol.messages.allocate_producer_ids_response import (
        AllocateProducerIdsResponse,
    )

_log = logging.getLogger(__name__)

PREFETCH_AT = 0.9


class ProducerIds:
    """The producer ids of one broker. `ask` sends AllocateProducerIds to the controller; its
    Deferred is resolved with the response or a KafkaError.
    """

    __slots__ = ("_ask", "_asking", "_end", "_next", "_next_block", "_prefetch_from", "_waiting")

    def __init__(self, ask: Callable[[], Deferred]) -> None:
        self._ask = ask
        self._asking = False
        self._next = 0
        self._end = 0
        self._prefetch_from = 0
        self._next_block: tuple[int, int] | None = None
        self._waiting = Waiters()

    def take(self) -> int | Deferred:
        """Return an unused id, or a Deferred (of an id or a KafkaError) while there is no block."""
        producer_id = self._take()
        if producer_id is None:
            waiting = self._waiting.wait()
            self._ask_for_block()
            return waiting
        if producer_id >= self._prefetch_from and self._next_block is None:
            self._ask_for_block()
        return producer_id

    def _take(self) -> int | None:
        if self._next == self._end:
            if self._next_block is None:
                return None
            self._next, self._end = self._next_block
            self._next_block = None
            self._prefetch_from = self._next + int((self._end - self._next) * PREFETCH_AT)
        producer_id = self._next
        self._next += 1
        return producer_id

    def _ask_for_block(self) -> None:
        if not self._asking:
            self._asking = True
            self._ask().on_resolved(self._on_answer)

    def _on_answer(self, answer: AllocateProducerIdsResponse | KafkaError) -> None:
        self._asking = False
        if isinstance(answer, KafkaError):
            self._refuse(answer.code)
        elif answer.error_code:
            self._refuse(answer.error_code)
        elif answer.producer_id_start < self._end or answer.producer_id_len <= 0:
            _log.error(
                "the controller returned the producer id block at %d, below %d or empty",
                answer.producer_id_start,
                self._end,
            )
            self._refuse(int(ErrorCode.UNKNOWN_SERVER_ERROR))
        else:
            start = answer.producer_id_start
            self._next_block = (start, start + answer.producer_id_len)
            self._serve_waiting()

    def _serve_waiting(self) -> None:
        while self._waiting:
            producer_id = self._take()
            if producer_id is None:
                self._ask_for_block()
                return
            self._waiting.resolve_next(producer_id)

    def _refuse(self, code: int) -> None:
        """Answer waiting callers with COORDINATOR_LOAD_IN_PROGRESS, which clients retry; other
        codes make old ones fail.
        """
        _log.warning("the controller allocated no producer ids: error %d", code)
        self._waiting.resolve_all(KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
