"""OffsetCommit, prepared: the same partitions of the same group, with other offsets.

    same | offset, leader epoch | same | offset, leader epoch | same       (v2-5: offset only)

The decoded message of the request that was prepared for stays with its connection, which has at
most one OffsetCommit in flight; the offsets of later requests are written into it. It is then
handled like any other: topics are looked up, and the coordinator decides. Only decoding the request
is saved, and encoding the response if every offset is committed. Other responses are encoded by the
general path.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias

from pykbroker.broker.prepared import CORRELATION_ID_AT, MISSED, SERVED, Answer, PreparedRequest
from pykbroker.broker.prepared.request_pattern import RequestPattern
from pykbroker.coordinator.group.offsets import commit_error
from pykbroker.deferred import Deferred
from pykbroker.errors import KafkaError
from pykbroker.protocol.headers import encode_request, encode_response
from pykbroker.protocol.messages.offset_commit_request import OffsetCommitRequest
from pykbroker.protocol.messages.offset_commit_response import OffsetCommitResponse
from pykbroker.protocol.parts_writer import Parts, join_parts

if TYPE_CHECKING:
    from pykbroker.network.request import PreparedConnection, Request

FIRST_WITH_EPOCH = 6
MOST_PARTITIONS = 100
MOST_REQUEST_BYTES = 8 * 1024
LENGTH_BYTES = 4

OFFSET_BYTES = 8
BOTH_BYTES = 12

_unpack_offset = Struct(">q").unpack_from
_unpack_both = Struct(">qi").unpack_from
_put_i32 = Struct(">i").pack_into

Handle: TypeAlias = Callable[["Request"], object]


class PreparedOffsetCommit(PreparedRequest):
    """Serves OffsetCommit requests for the same partitions of a group."""

    __slots__ = (
        "_all_well",
        "_answer",
        "_handle",
        "_has_epochs",
        "_numbers",
        "_pattern",
        "_request",
    )

    def __init__(
        self, handle: Handle, request: Request, answer: Answer, positions: list[int]
    ) -> None:
        """handle: the general path's handler; positions: of the offsets."""
        super().__init__()
        self._handle = handle
        self._answer = answer
        self._request = request
        request.frame = memoryview(bytes(request.frame))  # do not keep the receive buffer
        version = request.api_version
        self._has_epochs = version >= FIRST_WITH_EPOCH
        number_bytes = BOTH_BYTES if self._has_epochs else OFFSET_BYTES
        self._pattern = RequestPattern(request.frame, positions, number_bytes)
        partitions = [each for topic in request.message.topics for each in topic.partitions]
        self._numbers = list(zip(positions, partitions, strict=True))
        out: Parts = []
        encode_response(request.api, version, 0, commit_error(request.message, 0), out)
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
        for position, partition in self._numbers:
            at = start + position
            if self._has_epochs:
                partition.committed_offset, partition.committed_leader_epoch = _unpack_both(
                    frame, at
                )
            else:
                (partition.committed_offset,) = _unpack_offset(frame, at)
        request = self._request
        request.correlation_id = correlation_id
        outcome: object
        try:
            outcome = self._handle(request)
        except KafkaError as refusal:
            outcome = refusal
        if isinstance(outcome, Deferred):
            outcome.on_resolved(self._reply)
        else:
            self._reply(outcome)
        return SERVED

    def _reply(self, outcome: Any) -> None:
        request = self._request
        if isinstance(outcome, OffsetCommitResponse) and is_all_well(outcome):
            reply = bytearray(self._all_well)
            _put_i32(reply, CORRELATION_ID_AT, request.correlation_id)
            request.connection.reply(reply)
        else:
            self._answer(request, outcome)


def is_all_well(response: OffsetCommitResponse) -> bool:
    """Return whether every offset is committed."""
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code:
                return False
    return True


def prepare_with(handle: Handle, request: Request, answer: Answer) -> PreparedOffsetCommit | None:
    """Prepare for requests like this one, which the general path has served."""
    message: OffsetCommitRequest = request.message
    if (
        len(request.frame) > MOST_REQUEST_BYTES
        or not message.topics
        or not all(topic.partitions for topic in message.topics)
        or sum(len(topic.partitions) for topic in message.topics) > MOST_PARTITIONS
    ):
        return None
    positions = positions_of_offsets(request)
    return None if positions is None else PreparedOffsetCommit(handle, request, answer, positions)


def positions_of_offsets(request: Request) -> list[int] | None:
    """Return the positions of the offsets, or None if our encoder would write other bytes."""
    message: OffsetCommitRequest = OffsetCommitRequest.decode(
        request.frame, request.body_pos, request.api_version
    )[0]

    def encoded() -> bytes:
        out: Parts = []
        version, client_id = request.api_version, request.client_id
        encode_request(request.api, version, request.correlation_id, client_id, message, out)
        return join_parts(out)[LENGTH_BYTES:]

    if encoded() != request.frame:
        return None
    partitions = [each for topic in message.topics for each in topic.partitions]
    for partition in partitions:
        partition.committed_offset = 0
    zeros = encoded()
    for partition in partitions:
        partition.committed_offset = -1
    differing = [
        at for at, pair in enumerate(zip(zeros, encoded(), strict=True)) if len({*pair}) > 1
    ]
    return differing[::OFFSET_BYTES]
