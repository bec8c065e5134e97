"""A Produce request of very many partitions, appended in pieces between which the loop breathes.

Each piece waits for its write, like a separate request: whether a write failed is known for the
batches of one round. Partitions are independent of each other, so clients notice no
difference; there is a single answer.

State: none. In: the request, and the function that appends one piece. Out: the merged answers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pykbroker.broker.handlers import InSlices
from pykbroker.deferred import gather
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.produce_request import ProduceRequest, TopicProduceData
from pykbroker.protocol.messages.produce_response import ProduceResponse

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request

PIECE = 200  # partitions that are appended to without a pause


def is_long(message: ProduceRequest) -> bool:
    """Does it have more partitions, or topics, than one piece?"""
    if len(message.topic_data) > PIECE:
        return True
    count = 0
    for topic in message.topic_data:
        if topic.partition_data:
            count += len(topic.partition_data)
            if count > PIECE:
                return True
    return False


def append_in_pieces(
    services: BrokerServices, request: Request, append: Callable[[Request], Any]
) -> Any:
    """Append the pieces of `request`; return the job that merges their answers (InSlices), or a
    Deferred of it.
    """
    breathe = services.breathe
    outcomes = []
    for piece in pieces(request.message, breathe):
        part = copy.copy(request)
        part.message = piece
        outcomes.append(append(part))
        services.wake()  # the next turn writes what was queued
        breathe()
    return gather(outcomes, lambda all_of_them: InSlices(partial(merged, all_of_them, breathe)))


def pieces(message: ProduceRequest, breathe: Breathe = go_on) -> Iterator[ProduceRequest]:
    """The request cut into requests of at most PIECE partitions, in its order; at least one. Topics
    without partitions are left out.
    """
    topics: list[TopicProduceData] = []
    is_cut = False
    room = PIECE
    for topic in paced(message.topic_data, breathe):
        first = 0
        while first < len(topic.partition_data):
            cut = topic.partition_data[first : first + room]
            topics.append(
                TopicProduceData(name=topic.name, topic_id=topic.topic_id, partition_data=cut)
            )
            first += len(cut)
            room -= len(cut)
            if not room:
                yield _with_topics(message, topics)
                topics, room = [], PIECE
                is_cut = True
    if topics or not is_cut:
        yield _with_topics(message, topics)


def _with_topics(message: ProduceRequest, topics: list[TopicProduceData]) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=message.transactional_id,
        acks=message.acks,
        timeout_ms=message.timeout_ms,
        topic_data=topics,
    )


def merged(
    outcomes: list[Any], breathe: Breathe = go_on
) -> ProduceResponse | CloseConnection | None:
    """Merge the answers to the pieces. Those without acks are None, or close the connection."""
    for outcome in outcomes:
        if not isinstance(outcome, ProduceResponse):
            return next((each for each in outcomes if each is not None), None)
    whole: ProduceResponse = outcomes[0]
    endpoints = {each.node_id: each for each in whole.node_endpoints}
    for outcome in paced(outcomes[1:], breathe):
        first, *others = outcome.responses
        last = whole.responses[-1]
        if (first.name, first.topic_id) == (last.name, last.topic_id):
            last.partition_responses.extend(first.partition_responses)
        else:
            whole.responses.append(first)
        whole.responses.extend(others)
        endpoints |= {each.node_id: each for each in outcome.node_endpoints}
    whole.node_endpoints = list(endpoints.values())
    return whole
