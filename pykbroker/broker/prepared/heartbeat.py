"""Heartbeat, prepared: a request that differs from an earlier one in its correlation id only.

The coordinator is asked each time; only decoding the request is saved, and encoding the response if
it is available at once and has no error. Any other response is encoded by the general path.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from pykbroker.broker.prepared import CORRELATION_ID_AT, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.request_pattern import RequestPattern
from pykbroker.deferred import Deferred
from pykbroker.errors import KafkaError
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.messages.heartbeat_response import HeartbeatResponse
from pykbroker.protocol.parts_writer import Parts, join_parts

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import PreparedConnection, Request

MOST_REQUEST_BYTES = 1024

_put_i32 = Struct(">i").pack_into


class PreparedHeartbeat(PreparedRequest):
    """Serves Heartbeat requests that differ in their correlation ids only."""

    __slots__ = ("_all_well", "_answer", "_message", "_pattern", "_services")

    def __init__(self, services: BrokerServices, request: Request, answer: Answer) -> None:
        super().__init__()
        self._services = services
        self._answer = answer
        self._message = request.message
        self._pattern = RequestPattern(request.frame)
        out: Parts = []
        encode_response(request.api, request.api_version, 0, HeartbeatResponse(), out)
        self._all_well = join_parts(out)

    def serve(
        self,
        connection: PreparedConnection,
        frame: bytes | bytearray,
        start: int,
        end: int,
        correlation_id: int,
        now_ms: int,
    ) -> int:
        if not self._pattern.matches(frame, start, end):
            return MISSED
        outcome: HeartbeatResponse | Deferred | KafkaError
        try:
            outcome = self._services.groups.heartbeat(self._message)
        except KafkaError as refusal:
            outcome = refusal
        if isinstance(outcome, HeartbeatResponse) and not (
            outcome.error_code or outcome.throttle_time_ms
        ):
            reply = bytearray(self._all_well)
            _put_i32(reply, CORRELATION_ID_AT, correlation_id)
            connection.reply(reply)
            return SERVED
        request = connection.request_of(frame, start, end)
        if request is not None:
            request.message = self._message
            if isinstance(outcome, Deferred):
                answer = self._answer
                outcome.on_resolved(lambda later: answer(request, later))
            else:
                self._answer(request, outcome)
        return SERVED


def prepare(services: BrokerServices, request: Request, answer: Answer) -> PreparedHeartbeat | None:
    """Prepare for requests like this one, which the general path has served."""
    if len(request.frame) > MOST_REQUEST_BYTES:
        return None
    return PreparedHeartbeat(services, request, answer)
