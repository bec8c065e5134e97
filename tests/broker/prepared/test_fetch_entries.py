"""The quick decoder of fetched partitions finds what the general one finds, or nothing."""

from __future__ import annotations

import random

import pytest

from pykbroker.broker.prepared.fetch_entries import (
    FIRST_BY_ID,
    MOST_NAMED,
    NamedPartition,
    OnlyEntry,
    topics_layout,
)
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.parts_writer import Parts, join_parts
from pykbroker.protocol.primitives import ZERO_UUID

VERSIONS = range(4, 19)
TOPIC_ID = bytes(range(16))


def encoded(topics: list[FetchTopic], version: int) -> tuple[bytes, int, int]:
    """A request: its bytes, where its topics begin, and where what is behind them begins."""
    frames = []
    for each in ([], topics):
        out: Parts = []
        FetchRequest(topics=each).encode(out, version)
        frames.append(join_parts(out))
    empty, frame = frames
    head = 4 + 4 + 4 + 1 + (4 if version < 15 else 0) + (8 if version >= 7 else 0)
    behind = len(empty) - head - (1 if version >= 12 else 4)
    return frame, head, len(frame) - behind


def partition(version: int, dice: random.Random) -> FetchPartition:
    asked = FetchPartition(
        partition=dice.randrange(9),
        fetch_offset=dice.randrange(1 << 40),
        partition_max_bytes=dice.randrange(1 << 20),
    )
    if version >= 5:
        asked.log_start_offset = dice.randrange(-1, 1 << 40)
    if version >= 9:
        asked.current_leader_epoch = dice.randrange(-1, 9)
    if version >= 12:
        asked.last_fetched_epoch = dice.randrange(-1, 9)
    return asked


def generally(frame: bytes, version: int) -> list[NamedPartition]:
    """What the general decoder finds."""
    message = FetchRequest.decode(memoryview(frame), 0, version)[0]
    return [
        (
            None if version >= FIRST_BY_ID else topic.topic,
            topic.topic_id,
            (
                p.partition,
                p.current_leader_epoch,
                p.fetch_offset,
                p.last_fetched_epoch,
                p.log_start_offset,
                p.partition_max_bytes,
            ),
        )
        for topic in message.topics
        for p in topic.partitions
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_it_reads_what_the_general_decoder_reads(version: int) -> None:
    dice = random.Random(version)
    for _ in range(20):
        topics = [
            FetchTopic(
                topic="t" * dice.randrange(1, 60),
                topic_id=dice.randbytes(16),
                partitions=[partition(version, dice) for _ in range(dice.randrange(4))],
            )
            for _ in range(dice.randrange(4))
        ]
        frame, position, end = encoded(topics, version)
        more = frame + b"\1" * 40  # the frame after this one
        found = topics_layout(version).read(more, position, len(frame))
        assert found == (generally(frame, version), end)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_cut_short_is_left_to_the_general_decoder(version: int) -> None:
    topics = [
        FetchTopic(topic="t", topic_id=TOPIC_ID, partitions=[FetchPartition(partition=1)] * 2)
    ]
    frame, position, end = encoded(topics, version)
    for cut in range(position, end):
        for buffer in (frame[:cut], frame):
            assert topics_layout(version).read(buffer, position, cut) is None


@pytest.mark.parametrize(
    ("version", "topics"),
    [
        (11, [FetchTopic(topic="ü", partitions=[FetchPartition()])]),
        (12, [FetchTopic(topic="ü", partitions=[FetchPartition()])]),
        (12, [FetchTopic(topic="t" * 200, partitions=[FetchPartition()])]),
        (17, [FetchTopic(topic_id=ZERO_UUID, partitions=[FetchPartition()])]),
        (17, [FetchTopic(topic_id=TOPIC_ID, unknown_tags={9: b"x"})]),
        (17, [FetchTopic(topic_id=TOPIC_ID, partitions=[FetchPartition(unknown_tags={9: b"x"})])]),
        (17, [FetchTopic(topic_id=TOPIC_ID, partitions=[FetchPartition()] * (MOST_NAMED + 1))]),
        (17, [FetchTopic(topic_id=TOPIC_ID, partitions=[FetchPartition()] * 200)]),
        (11, [FetchTopic(topic="t", partitions=[FetchPartition()] * 200)]),
        (11, [FetchTopic(topic="t", partitions=[FetchPartition()] * 60)] * 2),
    ],
)
def test_what_is_unusual_is_left_to_the_general_decoder(
    version: int, topics: list[FetchTopic]
) -> None:
    frame, position, _ = encoded(topics, version)
    assert topics_layout(version).read(frame, position, len(frame)) is None


@pytest.mark.parametrize("version", [11, 12])
def test_a_null_name_and_a_null_list_are_left_to_the_general_decoder(version: int) -> None:
    topics = [FetchTopic(topic="", partitions=[])]
    frame, position, end = encoded(topics, version)
    size = 1 if version >= 12 else 4
    for at in (position, position + size):
        length = (size, 2)[at > position] if version < 12 else 1
        broken = bytearray(frame)
        broken[at : at + length] = b"\xff" * length if version < 12 else b"\0"
        assert topics_layout(version).read(broken, position, end) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_with_the_same_only_partition_is_recognised(version: int) -> None:
    dice = random.Random(version)

    def asked(index: int, count: int = 1) -> tuple[bytes, int]:
        parts = [partition(version, dice) for _ in range(count)]
        parts[0].partition = index
        topic = FetchTopic(topic="one", topic_id=TOPIC_ID, partitions=parts)
        frame, start, _ = encoded([topic], version)
        return b"before" + frame, start + len(b"before")

    first, start = asked(3)
    named = generally(first[6:], version)[0]
    empty, _, end = encoded([], version)
    only = OnlyEntry(version, empty[end:])
    assert only.read(first, start, len(first)) is None
    only.remember(first + b"after", start, len(first), named)
    for index in (3, 0, 8):
        frame, start = asked(index)
        found = only.read(frame + b"after", start, len(frame))
        assert found == generally(frame[6:], version)[0]
    frame, start = asked(3)
    assert only.read(frame, start, len(frame) - 1) is None
    assert only.read(frame + b"\0", start, len(frame) + 1) is None
    two, start = asked(3, 2)
    assert only.read(two, start, len(two)) is None
    other = first.replace(b"one", b"two").replace(TOPIC_ID, TOPIC_ID[::-1])
    assert only.read(other, start, len(other)) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_with_a_topic_without_partitions_is_not_remembered(version: int) -> None:
    """It does not end with its only partition."""
    dice = random.Random(version)
    topics = [
        FetchTopic(topic="one", topic_id=TOPIC_ID, partitions=[partition(version, dice)]),
        FetchTopic(topic="none", topic_id=TOPIC_ID[::-1], partitions=[]),
    ]
    frame, start, end = encoded(topics, version)
    only = OnlyEntry(version, frame[end:])
    only.remember(frame, start, len(frame), generally(frame, version)[0])
    assert only.read(frame, start, len(frame)) is None
