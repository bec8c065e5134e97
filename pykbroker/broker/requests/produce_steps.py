"""Appending the batches of a Produce request: at once, or after what has to come first.

    verify_and_append   with a transactional id: the transaction is verified
                        (`broker/transactions/transactional_produce.py`), then
    check_and_append    batches that would hold up the event loop are checked: compressed ones here
                        up to a limit, the others in a thread; then all of the request is
                        appended, a long one in slices (`long_produce.py`)
    append_batches      what all of them end in, and most requests begin with

State   of `ProduceSteps`: what the steps have found out so far.
Out     what the handler returns (`Outcome`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import InSlices
from pykbroker.broker.requests.long_produce import append_in_pieces
from pykbroker.broker.requests.pending_produce import PendingProduce
from pykbroker.broker.requests.produce_checks import FIRST_BY_ID, check_ahead, needs_check
from pykbroker.deferred import Deferred, chain
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.produce_response import ProduceResponse, TopicProduceResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pykbroker.broker.handlers import Outcome
    from pykbroker.broker.requests.validation_pool import Check
    from pykbroker.broker.services import BrokerServices
    from pykbroker.broker.transactions.transaction_verification import Verified
    from pykbroker.log.validation.batch_validation import ValidationOutcome
    from pykbroker.network.request import CloseConnection, Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest


class ProduceSteps:
    """A Produce request that needs more than `append_batches`."""

    __slots__ = ("_checked", "_is_long", "_request", "_services", "_verified")

    def __init__(self, services: BrokerServices, request: Request, is_long: bool) -> None:
        """is_long: see `long_produce.is_long`."""
        self._services = services
        self._request = request
        self._is_long = is_long
        self._verified: Verified | None = None
        self._checked: dict[int, ValidationOutcome] = {}

    def verify_and_append(self) -> Outcome:
        """Append the batches, once the transaction of those that are in one is verified. Raises
        KafkaError if they are of several producers.
        """
        from pykbroker.broker.transactions.transactional_produce import verify_batches

        verified = verify_batches(self._services, self._request)
        if not isinstance(verified, Deferred):
            return self._append_verified(verified)

        def append_later(verified: Verified) -> Outcome:
            self._services.wake()  # the end of a round writes what is queued now
            return self._append_verified(verified)

        return chain(verified, append_later)

    def _append_verified(self, verified: Verified | None) -> Outcome:
        self._verified = verified
        return self.check_and_append() if self._needs_check() else self._append()

    def _needs_check(self) -> bool:
        return needs_check(self._request, self._services.breathe if self._is_long else None)

    def check_and_append(self) -> Outcome:
        """Append every batch, once the large ones are checked."""
        services = self._services
        request = self._request
        by_id = request.api_version >= FIRST_BY_ID
        breathe = services.breathe if self._is_long else None
        checked, heavy = check_ahead(services, request.message, by_id=by_id, breathe=breathe)
        self._checked = checked
        return self._check_in_thread(heavy) if heavy else self._append()

    def _check_in_thread(self, heavy: dict[int, Check]) -> Deferred:
        deferred = Deferred()

        def finish(outcomes: list[ValidationOutcome]) -> None:
            self._checked.update(zip(heavy, outcomes, strict=True))
            outcome = self._append()
            if isinstance(outcome, Deferred):
                outcome.on_resolved(deferred.resolve)
            else:
                deferred.resolve(outcome)
            self._services.wake()  # the end of a round writes what was queued

        self._services.validation.check(list(heavy.values()), finish)
        return deferred

    def _append(self) -> Outcome:
        if not self._is_long:
            return self._append_piece(self._request)
        return InSlices(
            partial(append_in_pieces, self._services, self._request, self._append_piece)
        )

    def _append_piece(self, piece: Request) -> Deferred | ProduceResponse | CloseConnection:
        return append_batches(self._services, piece, self._checked, self._verified)


def append_batches(
    services: BrokerServices,
    request: Request,
    checked: Mapping[int, ValidationOutcome] | None = None,
    verified: Verified | None = None,
) -> Deferred | ProduceResponse | CloseConnection:
    """Queue every batch; return a Deferred of the answer, resolved now if none could be queued.

    checked: what was validated before, by the id of the entry. verified: what was found of the
    transaction.
    """
    message: ProduceRequest = request.message
    manager = services.replica_manager
    by_id = request.api_version >= FIRST_BY_ID
    deadline_ms = request.received_ms + message.timeout_ms
    pending = PendingProduce(services, request, message.acks, deadline_ms, verified)
    responses = []
    for topic in message.topic_data:
        if by_id:
            name = manager.topic_name(topic.topic_id)
        else:
            name = topic.name
        replies = []
        for asked in topic.partition_data:
            if name is None:
                reply = pending.refuse(asked.index, int(ErrorCode.UNKNOWN_TOPIC_ID))
            else:
                reply = pending.append(
                    name,
                    asked.index,
                    asked.records,  # type: ignore[arg-type]
                    checked.get(id(asked)) if checked else None,
                )
            replies.append(reply)
        if replies:
            responses.append(
                TopicProduceResponse(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=replies
                )
            )
    pending.reply = ProduceResponse(responses=responses)
    if not pending.pending:
        pending.deferred.resolve(pending.finished())
        return pending.deferred
    manager.await_turn(pending)
    return pending.deferred
