"""A prepared Produce between the queueing of its batches and its answer.

    end of the round: written        answered from the template
                      acks=all and replicas do not have it yet
                                     WaitingTicket, answered from the template when they do
                      anything failed, then or later, or the time is over
                                     PendingProduce: the general path's answer, and its wait

State: what was appended; of a `WaitingTicket`, what is not acknowledged yet.
In:  the end of the round, checks and the deadline (the purgatory). Out: one reply.
Invariant: the answer is the one that the general path would give.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pykbroker.broker.requests.pending_produce import PendingProduce
from pykbroker.protocol.messages.produce_request import ProduceRequest
from pykbroker.replication.delayed_produce import DelayedAcknowledgement
from pykbroker.replication.partition import ACKS_ALL

if TYPE_CHECKING:
    from pykbroker.broker.prepared import Answer
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Frame, PreparedConnection
    from pykbroker.protocol.messages.produce_response import ProduceResponse
    from pykbroker.purgatory import WatchKey
    from pykbroker.replication.partition import Partition

Place: TypeAlias = tuple[int, int]
"""A partition in the answer: the number of its topic among the request's, and its index."""

Append: TypeAlias = "tuple[Partition, int]"
"""A partition, and where in it the appended batch ends."""


class Answering(Protocol):
    """What the requests of a connection have in common."""

    acks: int
    timeout_ms: int
    services: BrokerServices
    answer: Answer

    def reply(self, ticket: ProduceTicket) -> bytearray:
        """Return the frame of a response without errors."""

    def response(self, places: Sequence[Place], numbers: Sequence[int]) -> ProduceResponse:
        """Return the response for these places; numbers: a base offset and a log start of each."""


class ProduceTicket:
    """A prepared Produce whose batches are queued, until the end of the round."""

    __slots__ = (
        "_connection",
        "_request",
        "appended",
        "correlation_id",
        "numbers",
        "places",
        "prepared",
    )

    def __init__(
        self,
        prepared: Answering,
        connection: PreparedConnection,
        correlation_id: int,
        request: Frame,
    ) -> None:
        self.prepared = prepared
        self._connection = connection
        self._request = request
        self.correlation_id = correlation_id
        self.places: list[Place] = []
        self.appended: list[Append] = []
        self.numbers: list[int] = []
        """Base offset and log start offset of each partition."""

    def on_turn_written(self, failed: Container[Partition]) -> DelayedAcknowledgement | None:
        """Respond after the turn's writes, or keep waiting for the replicas."""
        prepared = self.prepared
        acks = prepared.acks
        remaining: list[Append] = []
        for append in self.appended:
            partition, end_offset = append
            code: int | None = 0
            if acks == ACKS_ALL:
                code = partition.acknowledged(end_offset)
                if code is None:
                    remaining.append(append)
            if code or partition in failed:
                pending = self.as_pending(prepared.services.now_ms(), self.appended)
                return pending.on_turn_written(failed)
        if remaining:
            return WaitingTicket(self, prepared.services.now_ms(), remaining)
        if acks:
            self.reply()
        else:
            self._connection.no_reply()
        return None

    def reply(self) -> None:
        """All went well."""
        self._connection.reply(self.prepared.reply(self))

    def as_pending(self, received_ms: int, remaining: Container[Append]) -> PendingProduce:
        """What the general path would wait with for `remaining`, which are of `appended`."""
        prepared = self.prepared
        services = prepared.services
        request = self._connection.request_of(*self._request)
        assert request is not None, "its header is that of the request that was prepared for"
        request.received_ms = received_ms
        message = ProduceRequest.decode(request.frame, request.body_pos, request.api_version)[0]
        request.message = message
        deadline_ms = received_ms + prepared.timeout_ms
        pending = PendingProduce(services, request, message.acks, deadline_ms, None)
        pending.reply = prepared.response(self.places, self.numbers)
        parts = [part for topic in pending.reply.responses for part in topic.partition_responses]
        for append, part in zip(self.appended, parts, strict=True):
            if append in remaining:
                pending.add(*append, part)
        answer = prepared.answer
        pending.deferred.on_resolved(lambda outcome: answer(request, outcome))
        return pending


class WaitingTicket(DelayedAcknowledgement):
    """A written Produce with acks=all that waits for replicas."""

    __slots__ = ("_received_ms", "_remaining", "_ticket")

    def __init__(self, ticket: ProduceTicket, received_ms: int, remaining: list[Append]) -> None:
        super().__init__(received_ms + ticket.prepared.timeout_ms)
        self._ticket = ticket
        self._received_ms = received_ms
        self._remaining = remaining

    def keys(self) -> Iterable[WatchKey]:
        return {partition.produce_key: None for partition, _ in self._remaining}

    def try_complete(self) -> bool:
        still = []
        for append in self._remaining:
            partition, end_offset = append
            code = partition.acknowledged(end_offset)
            if code:
                pending = self._as_pending()
                if not pending.try_complete():
                    manager = self._ticket.prepared.services.replica_manager
                    manager.watchers.await_acknowledgement(pending)
                return True
            if code is None:
                still.append(append)
        self._remaining = still
        if still:
            return False
        self._ticket.reply()
        return True

    def expire(self) -> None:
        self._as_pending().expire()

    def _as_pending(self) -> PendingProduce:
        return self._ticket.as_pending(self._received_ms, self._remaining)
