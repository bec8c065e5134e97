"""Templates make what the encoder makes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pykbroker.broker.prepared.records_template import RecordsTemplate
from pykbroker.broker.prepared.reply_template import ReplyTemplate
from pykbroker.protocol.api import APIS
from pykbroker.protocol.headers import encode_response
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.messages.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from pykbroker.protocol.parts_writer import Parts, join_parts

NUMBERS = (1, -1, 0x7FFF_FFFF_FFFF_FFFF, 0, 1 << 40, -(1 << 63))


def produced(numbers: Sequence[int]) -> ProduceResponse:
    parts = [
        PartitionProduceResponse(index=at, base_offset=base, log_start_offset=start)
        for at, (base, start) in enumerate(zip(numbers[::2], numbers[1::2], strict=True))
    ]
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=parts)])


@pytest.mark.parametrize("version", range(3, 14))
@pytest.mark.parametrize("numbers", [NUMBERS[:2], NUMBERS[2:4], NUMBERS])
def test_numbers(version: int, numbers: tuple[int, ...]) -> None:
    template = ReplyTemplate(APIS[0], version, len(numbers), produced)
    for correlation_id in (0, -1, 1 << 30):
        out: Parts = []
        encode_response(APIS[0], version, correlation_id, produced(numbers), out)
        assert template.frame(correlation_id, numbers) == join_parts(out)


def fetched(numbers: Sequence[int], records: Sequence[bytes]) -> FetchResponse:
    parts = [
        PartitionData(
            partition_index=at,
            high_watermark=numbers[3 * at],
            last_stable_offset=numbers[3 * at + 1],
            log_start_offset=numbers[3 * at + 2],
            aborted_transactions=None if at else [],
            records=found,
        )
        for at, found in enumerate(records)
    ]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=parts)])


@pytest.mark.parametrize("version", range(4, 19))
@pytest.mark.parametrize("sizes", [(0,), (100,), (126,), (127,), (5, 0, 70_000), (0, 0, 20_000)])
def test_records(version: int, sizes: tuple[int, ...]) -> None:
    numbers = (NUMBERS * 2)[: 3 * len(sizes)]
    records = [b"r" * size for size in sizes]
    template = RecordsTemplate(APIS[1], version, 3, len(sizes), fetched)
    for correlation_id in (0, -1, 1 << 30):
        out: Parts = []
        encode_response(APIS[1], version, correlation_id, fetched(numbers, records), out)
        assert template.frame(correlation_id, numbers, records) == join_parts(out)


def test_a_sample_is_encoded_once_however_many_numbers_it_has() -> None:
    asked: list[int] = []

    def answer(numbers: Sequence[int]) -> ProduceResponse:
        asked.append(len(numbers))
        return produced(numbers)

    template = ReplyTemplate(APIS[0], 13, 400, answer)
    numbers = [at * at for at in range(400)]
    out: Parts = []
    encode_response(APIS[0], 13, 7, produced(numbers), out)
    assert template.frame(7, numbers) == join_parts(out)
    assert asked == [400]


def test_a_sample_with_records_is_encoded_once_however_many_there_are() -> None:
    asked: list[int] = []

    def answer(numbers: Sequence[int], records: Sequence[bytes]) -> FetchResponse:
        asked.append(len(records))
        return fetched(numbers, records)

    template = RecordsTemplate(APIS[1], 12, 3, 200, answer)
    numbers = [at * at for at in range(600)]
    records = [b"r" * (at % 3) for at in range(200)]
    out: Parts = []
    encode_response(APIS[1], 12, 7, fetched(numbers, records), out)
    assert template.frame(7, numbers, records) == join_parts(out)
    assert asked == [200]
