from __future__ import annotations

from datetime import UTC, datetime

import pytest
from kafka import KafkaConsumer, TopicPartition

from pykbroker.cli.command import CommandError
from pykbroker.cli.consume_range import ConsumedRange, offsets_of, parse_bound
from pykbroker.testing import Broker

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_bounds() -> None:
    assert parse_bound("earliest", NOW) == "earliest"
    assert parse_bound("12", NOW) == 12
    assert parse_bound("90m", NOW) == datetime(2026, 1, 31, 10, 30, tzinfo=UTC)
    assert parse_bound("1500ms", NOW) == datetime(2026, 1, 31, 11, 59, 58, 500_000, tzinfo=UTC)
    assert parse_bound("2026-01-31T10:00:00+01:00", NOW) == datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert parse_bound("2026-01-31", NOW) == datetime(2026, 1, 31).astimezone()
    for long_ago in ("800000d", "99999999999999d"):
        with pytest.raises(CommandError, match=f"'{long_ago}' is longer ago than the year 1"):
            parse_bound(long_ago, NOW)
    for wrong in ("yesterday", "-5m", "5w"):
        with pytest.raises(CommandError, match="is neither earliest, latest, an offset"):
            parse_bound(wrong, NOW)


@pytest.fixture
def consumer(broker: Broker):
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, enable_auto_commit=False)
    yield consumer
    consumer.close()


def test_offsets(consumer: KafkaConsumer, filled: str) -> None:
    """Five records a partition; those of partition 0 are of even milliseconds, from ...000 on."""
    partitions = [TopicPartition(filled, number) for number in range(2)]

    def offsets(bound) -> list[int]:
        found = offsets_of(consumer, partitions, bound)
        return [found[each] for each in partitions]

    assert offsets("earliest") == [0, 0]
    assert offsets("latest") == [5, 5]
    assert offsets(3) == [3, 3]
    assert offsets(300) == [5, 5]
    assert offsets(datetime.fromtimestamp(1_600_000_000.003, UTC)) == [2, 1]
    assert offsets(NOW) == [5, 5]
    assert offsets(datetime(2000, 1, 1, tzinfo=UTC)) == [0, 0]
    with pytest.raises(CommandError, match=r"write 2023-11-14T22:13:20.123\+00:00$"):
        offsets(1_700_000_000_123)
    with pytest.raises(CommandError, match=r"^Offset 6 is beyond the end, which is 5$"):
        offsets_of(consumer, partitions, 6, is_begin=True)


def test_a_range(consumer: KafkaConsumer, filled: str) -> None:
    partitions = [TopicPartition(filled, number) for number in range(2)]
    consumed = ConsumedRange(consumer, partitions, None)
    records = list(consumed.records(1, 3))
    found = sorted((each.partition, each.offset) for each in records)
    assert found == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert consumed.total == 4
    assert list(ConsumedRange(consumer, partitions, None).records(4, 2)) == []
