"""The answers to prepared Produce requests are those that the encoder writes."""

from __future__ import annotations

import random

import pytest

from pykbroker.broker.prepared.produce_replies import MOST_TEMPLATES, Place, ProduceReplies
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.parts_writer import Parts, join_parts
from tests.replication.node import topic_id_of

TOPICS = [("a", topic_id_of(1)), ("b", topic_id_of(2))]


def encoded(
    replies: ProduceReplies, version: int, places: list[Place], numbers: list[int]
) -> bytes:
    out: Parts = []
    encode_response(APIS[0], version, 9, replies.message(places, numbers), out)
    return join_parts(out)


@pytest.mark.parametrize("version", range(3, 14))
def test_frames_are_what_the_encoder_writes(version: int) -> None:
    dice = random.Random(version)
    replies = ProduceReplies(APIS[0], version, TOPICS)
    for _ in range(2 * MOST_TEMPLATES):
        indexes = [sorted(dice.sample(range(6), dice.randint(1, 4))) for _ in TOPICS]
        places = [(number, index) for number in (0, 1) for index in indexes[number]]
        numbers = [dice.getrandbits(40) for _ in range(2 * len(places))]
        assert replies.frame(9, places, numbers) == encoded(replies, version, places, numbers)


def test_numbers_are_of_their_places() -> None:
    replies = ProduceReplies(APIS[0], 13, TOPICS)
    message = replies.message([(0, 3), (1, 0), (1, 5)], [10, 1, 20, 2, 30, 3])
    assert [
        (topic.name, part.index, part.base_offset, part.log_start_offset)
        for topic in message.responses
        for part in topic.partition_responses
    ] == [("a", 3, 10, 1), ("b", 0, 20, 2), ("b", 5, 30, 3)]
