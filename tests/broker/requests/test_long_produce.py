"""Produce requests of very many partitions: cut into pieces, answered as one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers.produce import HANDLER
from pykbroker.broker.requests.long_produce import PIECE, append_in_pieces, is_long, merged, pieces
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.produce_response import (
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.broker.handlers.data_plane import Broker, Call
from tests.replication.node import batch


def request(*counts: int, acks: int = 1) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=1234,
        topic_data=[
            TopicProduceData(
                name=f"t{number}",
                partition_data=[
                    PartitionProduceData(index=index, records=b"") for index in range(count)
                ],
            )
            for number, count in enumerate(counts)
        ],
    )


def partitions(message: Any) -> list[tuple[str, int]]:
    return [
        (topic.name, part.index) for topic in message.topic_data for part in topic.partition_data
    ]


def answer(*entries: tuple[str, int], node_ids: tuple[int, ...] = ()) -> ProduceResponse:
    topics: dict[str, TopicProduceResponse] = {}
    for name, index in entries:
        topic = topics.setdefault(name, TopicProduceResponse(name=name, partition_responses=[]))
        topic.partition_responses.append(PartitionProduceResponse(index=index))
    return ProduceResponse(
        responses=list(topics.values()),
        node_endpoints=[NodeEndpoint(node_id=node_id) for node_id in node_ids],
    )


@pytest.mark.parametrize(
    "counts",
    [(PIECE,), (PIECE + 1,), (1, 0, PIECE, 3), (PIECE - 1, 1, PIECE), (0, 5, 0, 3 * PIECE)],
)
def test_pieces_hold_all_in_order(counts: tuple[int, ...]) -> None:
    whole = request(*counts)
    cut = list(pieces(whole))
    assert [each for piece in cut for each in partitions(piece)] == partitions(whole)
    assert all(0 < len(partitions(piece)) <= PIECE for piece in cut)
    assert {(piece.acks, piece.timeout_ms) for piece in cut} == {(1, 1234)}
    assert is_long(whole) == (sum(counts) > PIECE)


def test_answers_to_pieces_are_one_answer() -> None:
    whole: Any = merged(
        [
            answer(("a", 0), ("a", 1), node_ids=(1,)),
            answer(("a", 2), ("b", 0), node_ids=(1, 2)),
            answer(("c", 0)),
        ]
    )
    assert [
        (topic.name, [part.index for part in topic.partition_responses])
        for topic in whole.responses
    ] == [("a", [0, 1, 2]), ("b", [0]), ("c", [0])]
    assert [endpoint.node_id for endpoint in whole.node_endpoints] == [1, 2]


def test_without_acks_there_is_no_answer_unless_a_piece_closes() -> None:
    closing = CloseConnection("no")
    assert merged([None, None]) is None
    assert merged([None, closing, None]) is closing


def test_every_piece_waits_for_its_own_write() -> None:
    waiting: list[Deferred] = []
    events: list[str] = []
    services: Any = SimpleNamespace(
        wake=lambda: events.append("wake"), breathe=lambda: events.append("breathe")
    )

    def append(piece: Any) -> Deferred:
        assert piece.client_id == "me"
        waiting.append(Deferred())
        events.append(f"append {len(partitions(piece.message))}")
        return waiting[-1]

    asked: Any = SimpleNamespace(message=request(PIECE + 7), client_id="me")
    outcome = append_in_pieces(services, asked, append)
    appends = [event for event in events if event != "breathe"]
    assert appends == [f"append {PIECE}", "wake", "append 7", "wake"]
    assert events[-1] == "breathe"
    waiting[1].resolve(answer(("t0", PIECE)))
    assert not outcome.done
    waiting[0].resolve(answer(("t0", 0)))
    assert len(outcome.value.job().responses[0].partition_responses) == 2


@pytest.mark.parametrize("acks", [1, -1])
def test_a_long_request_is_stored_and_answered_as_a_short_one_is(acks: int) -> None:
    broker = Broker()
    count = PIECE + 50
    broker.node.create_topic("t", partitions=count)
    batches = [PartitionProduceData(index=index, records=batch(b"v")) for index in range(count)]
    batches.append(PartitionProduceData(index=count + 1, records=batch(b"v")))
    message = ProduceRequest(
        acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=batches)]
    )
    call = Call(broker, HANDLER, message, 9)
    assert call.is_waiting
    assert broker.breaths >= 2
    broker.node.end_turn()
    (topic,) = call.answer.responses
    assert [part.index for part in topic.partition_responses] == [*range(count), count + 1]
    codes = [part.error_code for part in topic.partition_responses]
    assert codes == [0] * count + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    ends = {broker.node.manager.find("t", index).log.log_end_offset for index in range(count)}  # type: ignore[union-attr]
    assert ends == {1}
