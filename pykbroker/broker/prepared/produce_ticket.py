"""A prepared Produce between the queueing of its batches and its answer.

    end of the round: written        answered from the template (acks=0: no answer)
                      acks=all and replicas do not have it yet
                                     WaitingTicket, answered from the template when they do
                      anything failed, then or later, or the time is over
                                     PendingProduce: the general path's answer, and its wait

Invariant: the answer is the one that the general path would give.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, TypeAlias

from pykbroker.broker.requests.pending_produce import PendingProduce
from pykbroker.protocol.messages.produce_request import ProduceRequest
from pykbroker.replication.delayed_produce import DelayedAcknowledgement
from pykbroker.replication.partition import ACKS_ALL
from pykbroker.values import NamedTuple

if TYPE_CHECKING:
    from pykbroker.broker.prepared import Answer
    from pykbroker.broker.prepared.produce_replies import Place, ProduceReplies
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Frame, PreparedConnection
    from pykbroker.purgatory import WatchKey
    from pykbroker.replication.partition import Partition

Append: TypeAlias = "tuple[Partition, int]"
"""A partition, and where in it the appended batch ends."""


class ProduceTerms(NamedTuple):
    """What the requests that a `PreparedProduce` serves have in common."""

    services: BrokerServices
    acks: int
    timeout_ms: int
    replies: ProduceReplies
    answer: Answer


class ProduceTicket:
    """A prepared Produce whose batches are queued."""

    __slots__ = (
        "_appended",
        "_connection",
        "_correlation_id",
        "_numbers",
        "_places",
        "_received_ms",
        "_request",
        "_terms",
    )

    def __init__(
        self,
        terms: ProduceTerms,
        connection: PreparedConnection,
        request: Frame,
        correlation_id: int,
        received_ms: int,
    ) -> None:
        self._terms = terms
        self._connection = connection
        self._request = request
        self._correlation_id = correlation_id
        self._received_ms = received_ms
        self._places: list[Place] = []
        self._appended: list[Append] = []
        self._numbers: list[int] = []  # two of each place: ProduceReplies patches them as they are

    @property
    def deadline_ms(self) -> int:
        """Until when it waits for replicas."""
        return self._received_ms + self._terms.timeout_ms

    def add(self, place: Place, partition: Partition, base_offset: int, next_offset: int) -> None:
        """Note a batch that is queued."""
        self._places.append(place)
        self._appended.append((partition, next_offset))
        self._numbers += (base_offset, partition.log.local.log_start_offset)

    def on_turn_written(self, failed: Container[Partition]) -> DelayedAcknowledgement | None:
        """Respond after the round's writes, or return what waits for the replicas."""
        appended = self._appended
        acks = self._terms.acks
        has_failed = bool(failed) and any(partition in failed for partition, _ in appended)
        remaining: list[Append] | None = []
        if acks == ACKS_ALL and not has_failed:
            remaining = unacknowledged(appended)
        if has_failed or remaining is None:
            return self.as_pending(appended).on_turn_written(failed)
        if remaining:
            return WaitingTicket(self, remaining)
        if acks:
            self.reply()
        else:
            self._connection.no_reply()
        return None

    def reply(self) -> None:
        """Send the answer without errors."""
        frame = self._terms.replies.frame(self._correlation_id, self._places, self._numbers)
        self._connection.reply(frame)

    def as_pending(self, remaining: Container[Append]) -> PendingProduce:
        """Return what the general path would have: a PendingProduce that waits for `remaining`."""
        terms = self._terms
        request = self._connection.request_of(*self._request)
        assert request is not None, "its header is that of the request that was prepared for"
        request.received_ms = self._received_ms
        message = ProduceRequest.decode(request.frame, request.body_pos, request.api_version)[0]
        request.message = message
        pending = PendingProduce(terms.services, request, terms.acks, self.deadline_ms, None)
        pending.reply = terms.replies.message(self._places, self._numbers)
        parts = [part for topic in pending.reply.responses for part in topic.partition_responses]
        for append, part in zip(self._appended, parts, strict=True):
            if append in remaining:
                pending.add(*append, part)
        pending.deferred.on_resolved(lambda outcome: terms.answer(request, outcome))
        return pending

    def hand_over(self, remaining: Container[Append]) -> None:
        """Leave the wait and the answer to the general path's operation."""
        pending = self.as_pending(remaining)
        if not pending.try_complete():
            self._terms.services.replica_manager.await_acknowledgement(pending)


class WaitingTicket(DelayedAcknowledgement):
    """A written Produce with acks=all that waits for replicas."""

    __slots__ = ("_remaining", "_ticket")

    def __init__(self, ticket: ProduceTicket, remaining: list[Append]) -> None:
        super().__init__(ticket.deadline_ms)
        self._ticket = ticket
        self._remaining = remaining

    def keys(self) -> Iterable[WatchKey]:
        return {partition.produce_key: None for partition, _ in self._remaining}

    def try_complete(self) -> bool:
        still = unacknowledged(self._remaining)
        if still is None:
            self._ticket.hand_over(self._remaining)
            return True
        self._remaining = still
        if not still:
            self._ticket.reply()
        return not still

    def expire(self) -> None:
        self._ticket.as_pending(self._remaining).expire()


def unacknowledged(appended: Iterable[Append]) -> list[Append] | None:
    """Return what replicas do not have yet; None if one of the partitions answers with an error."""
    still = []
    for append in appended:
        partition, end_offset = append
        code = partition.acknowledged(end_offset)
        if code is None:
            still.append(append)
        elif code:
            return None
    return still
