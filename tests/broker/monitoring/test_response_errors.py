"""Every error code of a response is counted, wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.monitoring.response_errors import count_errors, error_plan
from pykbroker.protocol.messages import (
    create_topics_response,
    fetch_response,
    produce_response,
    share_fetch_response,
    vote_response,
)
from pykbroker.protocol.messages.api_versions_response import ApiVersionsResponse
from pykbroker.protocol.messages.sasl_authenticate_response import SaslAuthenticateResponse
from pykbroker.protocol.primitives import Message


def counted(message: Message) -> list[int]:
    found: list[int] = []
    count_errors(message, error_plan(type(message)), found.append)
    return found


def produced(*codes: int) -> produce_response.ProduceResponse:
    partitions = [
        produce_response.PartitionProduceResponse(index=index, error_code=code)
        for index, code in enumerate(codes)
    ]
    topic = produce_response.TopicProduceResponse(name="t", partition_responses=partitions)
    return produce_response.ProduceResponse(responses=[topic])


def test_partitions() -> None:
    assert counted(produced(0, 3, 0, 6, 3)) == [3, 6, 3]
    assert counted(produced()) == []


def test_of_the_response_and_of_what_is_in_it() -> None:
    partition = fetch_response.PartitionData(partition_index=0, error_code=1)
    topic = fetch_response.FetchableTopicResponse(topic="t", partitions=[partition])
    assert counted(fetch_response.FetchResponse(error_code=70, responses=[topic])) == [70, 1]


def test_topics_whose_lists_may_be_null() -> None:
    topic = create_topics_response.CreatableTopicResult(name="t", error_code=36, configs=None)
    assert counted(create_topics_response.CreateTopicsResponse(topics=[topic])) == [36]


@pytest.mark.parametrize("kind", [ApiVersionsResponse, SaslAuthenticateResponse])
def test_of_the_response_alone(kind: Any) -> None:
    assert counted(kind(error_code=35)) == [35]
    assert counted(kind()) == []


def test_every_response_has_a_plan() -> None:
    for module in (share_fetch_response, vote_response):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message:
                error_plan(kind)
