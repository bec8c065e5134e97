"""What frees long messages, and what the thread of long requests answers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers import Route
from pykbroker.broker.requests.long_requests import FREED_AT_ONCE, LOOP_ELEMENTS, LongRequests, free
from pykbroker.deferred import Deferred
from pykbroker.environment.slices import InOneGo
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.network.request import CloseConnection, Request
from pykbroker.protocol.api import API_BY_NAME, response_class
from pykbroker.protocol.headers import (
    decode_request_header,
    decode_response_header,
    encode_request,
)
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import EncodeError, TooManyElements

METADATA = API_BY_NAME["Metadata"]


class Threads:
    """Threads whose jobs run in place."""

    def run(self, job: Callable[[], object]) -> Deferred:
        deferred = Deferred()
        try:
            deferred.resolve(job())
        except Exception as failure:
            deferred.resolve(failure)
        return deferred

    def close(self) -> None:
        """Nothing runs."""


@pytest.fixture
def long() -> LongRequests:
    background = SimpleNamespace(threads=lambda name: Threads())
    return LongRequests(SimpleNamespace(background=background, slices=InOneGo()))  # type: ignore[arg-type]


@pytest.fixture
def route() -> Route:
    route = Route("Metadata", "metadata", False, None)
    route.load()
    return route


def request(count: int, version: int = 12) -> Request:
    topics = [MetadataRequestTopic(name=f"t{number}") for number in range(count)]
    out: Parts = []
    encode_request(METADATA, version, 9, "me", MetadataRequest(topics=topics), out)
    connection: Any = SimpleNamespace(closed=False)
    received = Request(connection, memoryview(join_parts(out))[4:])
    decode_request_header(received.frame, received)
    return received


def test_the_loop_decodes_so_many_elements_and_the_thread_all(
    long: LongRequests, route: Route
) -> None:
    for count in (LOOP_ELEMENTS, LOOP_ELEMENTS + 1):
        asked = request(count)
        if count > LOOP_ELEMENTS:
            with pytest.raises(TooManyElements):
                route.decode(asked.frame, asked.body_pos, 12, LOOP_ELEMENTS)
        else:
            whole, _ = route.decode(asked.frame, asked.body_pos, 12, LOOP_ELEMENTS)
            assert len(whole.topics) == count
        assert len(long.decode(asked, route).value.topics) == count


def test_inner_arrays_count_together() -> None:
    topics = [
        OffsetFetchRequestTopic(name=f"t{number}", partition_indexes=[1, 2, 3])
        for number in range(10)
    ]
    out: Parts = []
    OffsetFetchRequest(group_id="g", topics=topics).encode(out, 5)
    frame = memoryview(join_parts(out))
    assert OffsetFetchRequest.decode(frame, 0, 5, 30)[0].topics is not None
    with pytest.raises(TooManyElements):
        OffsetFetchRequest.decode(frame, 0, 5, 29)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_so_do_those_in_structs_that_have_a_reader(version: int) -> None:
    topics = [AddPartitionsToTxnTopic(name=f"t{each}", partitions=[1, 2, 3]) for each in range(10)]
    asked = AddPartitionsToTxnRequest(v3_and_below_topics=topics)
    if version > 3:
        asked = AddPartitionsToTxnRequest(
            transactions=[AddPartitionsToTxnTransaction(topics=topics)]
        )
    most = 40 if version > 3 else 30  # topics are inner elements there
    out: Parts = []
    asked.encode(out, version)
    frame = memoryview(join_parts(out))
    assert AddPartitionsToTxnRequest.decode(frame, 0, version, most)[0] == asked
    with pytest.raises(TooManyElements):
        AddPartitionsToTxnRequest.decode(frame, 0, version, most - 1)


def test_a_reply_is_encoded_and_both_messages_are_freed(long: LongRequests) -> None:
    asked = request(1)
    asked.message = MetadataRequest(topics=[])
    topics = [MetadataResponseTopic(name=f"t{number}") for number in range(3 * FREED_AT_ONCE)]
    reply = MetadataResponse(topics=topics)
    del topics
    parts, size = long.encode(asked, reply).value
    frame = memoryview(join_parts(parts))
    assert len(frame) == size
    correlation_id, position = decode_response_header(frame[4:], METADATA, 12)
    told: Any
    told, _ = response_class(3).decode(frame[4:], position, 12)
    assert (correlation_id, len(told.topics)) == (9, 3 * FREED_AT_ONCE)
    assert len(reply.topics) == FREED_AT_ONCE  # what is left is freed in one go
    assert asked.message is None


def test_a_reply_that_cannot_be_encoded_keeps_the_request(long: LongRequests) -> None:
    asked = request(1)
    asked.message = MetadataRequest(topics=[])
    outcome = long.encode(
        asked, MetadataResponse(topics=[MetadataResponseTopic(name="x" * 70_000)])
    )
    assert isinstance(outcome.value, EncodeError)
    assert asked.message is not None


def test_the_error_of_a_whole_request(long: LongRequests, route: Route) -> None:
    asked = request(3)
    asked.message = MetadataRequest(topics=[MetadataRequestTopic(name="a")])
    parts, _ = long.encode_error(asked, route, KafkaError(ErrorCode.INVALID_REQUEST)).value
    frame = memoryview(join_parts(parts))[4:]
    _, position = decode_response_header(frame, METADATA, 12)
    told: Any
    told, _ = response_class(3).decode(frame, position, 12)
    assert [topic.error_code for topic in told.topics] == [ErrorCode.INVALID_REQUEST]
    route.error_reply = lambda request, code, message: CloseConnection("no")
    outcome = long.encode_error(asked, route, KafkaError(ErrorCode.INVALID_REQUEST)).value
    assert isinstance(outcome, CloseConnection)


def test_what_others_refer_to_is_not_freed() -> None:
    kept_list = [MetadataResponseTopic() for _ in range(2 * FREED_AT_ONCE)]
    partitions: list[Any] = [None] * 2 * FREED_AT_ONCE
    kept_topic = MetadataResponseTopic(partitions=partitions)
    free(MetadataResponse(topics=kept_list))
    free(MetadataResponse(topics=[kept_topic]))
    assert len(kept_list) == 2 * FREED_AT_ONCE
    assert len(kept_topic.partitions) == 2 * FREED_AT_ONCE


def test_long_lists_inside_of_elements_are_freed_too() -> None:
    seen: list[int] = []

    class Watched:
        def __init__(self, number: int) -> None:
            self.number = number

        def __del__(self) -> None:
            seen.append(self.number)

    inner: Any = [Watched(number) for number in range(2 * FREED_AT_ONCE)]
    reply = MetadataResponse(topics=[MetadataResponseTopic(partitions=inner)])
    del inner
    free(reply)
    assert len(seen) == FREED_AT_ONCE
    assert min(seen) == FREED_AT_ONCE


def test_nothing_is_handled_for_a_client_that_is_gone() -> None:
    wanted: list[Callable[[], bool]] = []
    wake = [].clear

    class Slices(InOneGo):
        def run(
            self, name: str, job: Any, is_wanted: Any = None, after_slice: Any = None
        ) -> Deferred:
            assert name == "Metadata"
            assert after_slice is wake
            wanted.append(is_wanted)
            return Deferred()

    background = SimpleNamespace(threads=lambda name: Threads())
    long = LongRequests(SimpleNamespace(background=background, slices=Slices()))  # type: ignore[arg-type]
    asked = request(1)
    long.handle(asked, lambda: None, wake)
    (is_wanted,) = wanted
    assert is_wanted()
    asked.connection.closed = True  # type: ignore[misc]
    assert not is_wanted()
    long.close()
