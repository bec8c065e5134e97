"""The data source beside Spark's own Kafka connector: the same topics, every row the same.

Apache Kafka 4.4 and pykbroker each write a log directory; the connector reads through the broker,
we read the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from pykbroker.testing import Broker
from tests.harness.apache import ApacheBroker
from tests.spark.topics import (
    BASE_MS,
    create_topic,
    produce_everything,
    produce_old_transactions,
    produce_transactions,
)

PARTITIONS = 3


class Served:
    """A broker that runs, and what it wrote."""

    def __init__(self, broker: Any) -> None:
        self.servers = broker.bootstrap_servers
        self.path = str(broker.data_dir)


@pytest.fixture(scope="module")
def apache() -> Iterator[Served]:
    """Apache Kafka with a topic of everything, one with its own times, one with transactions."""
    with ApacheBroker() as broker:
        served = Served(broker)
        _fill(served)
        create_topic(served.servers, "old", 1)
        produce_old_transactions(served.servers, "old")
        yield served


@pytest.fixture(scope="module")
def pykbroker() -> Iterator[Served]:
    """pykbroker with the same."""
    with ExitStack() as stack:
        served = Served(stack.enter_context(Broker()))
        _fill(served)
        yield served


def _fill(served: Served) -> None:
    create_topic(served.servers, "everything", PARTITIONS, segment_bytes="1048576")
    assert produce_everything(served.servers, "everything", PARTITIONS) == 720
    create_topic(served.servers, "stamped", 1, message_timestamp_type="LogAppendTime")
    produce_everything(served.servers, "stamped", 1, rounds=2)
    create_topic(served.servers, "transactions", 2)
    produce_transactions(served.servers, "transactions", 2)


def read(spark: Any, source: str, served: Served, **options: object) -> Any:
    """A DataFrame of one of the two sources; `kafka.x` is written `kafka__x`."""
    given = {name.replace("__", "."): str(value) for name, value in options.items()}
    given["kafka.bootstrap.servers"] = served.servers
    if source == "pykbroker":
        given["path"] = served.path
    return spark.read.format(source).options(**given).load()


def both(spark: Any, served: Served, **options: object) -> tuple[Any, Any]:
    """The same read by the connector and by us."""
    return read(spark, "kafka", served, **options), read(spark, "pykbroker", served, **options)


def rows(frame: Any) -> list[Any]:
    return sorted(map(tuple, frame.collect()), key=lambda row: row[2:5])


def test_every_row_of_apache_kafka(spark: Any, apache: Served) -> None:
    theirs, ours = both(
        spark, apache, subscribe="everything,stamped,transactions", includeHeaders="true"
    )
    assert ours.schema == theirs.schema
    expected = rows(theirs)
    assert len(expected) > 720 + 120
    assert rows(ours) == expected
    assert {row[6] for row in expected} == {0, 1}


def test_every_row_of_pykbroker(spark: Any, pykbroker: Served) -> None:
    topics = "everything,stamped,transactions"
    theirs, ours = both(spark, pykbroker, subscribe=topics, includeHeaders="true")
    expected = rows(theirs)
    assert len(expected) > 720 + 120
    assert rows(ours) == expected


@pytest.mark.parametrize("kind", ["apache", "pykbroker"])
def test_read_committed(spark: Any, request: pytest.FixtureRequest, kind: str) -> None:
    served = request.getfixturevalue(kind)
    theirs, ours = both(
        spark, served, subscribe="transactions", kafka__isolation__level="read_committed"
    )
    expected = rows(theirs)
    values = {row[1] for row in expected}
    assert b"0-0" in values
    assert not any(value.startswith((b"1-", b"3-", b"4-")) for value in values)
    assert rows(ours) == expected


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize(
    "options",
    [
        {"startingTimestamp": BASE_MS + 5, "endingTimestamp": BASE_MS + 30},
        {"startingTimestamp": BASE_MS + 2_000_000},
        {"startingTimestamp": BASE_MS + 500_000},
        {"endingTimestamp": BASE_MS + 15},
    ],
)
def test_times_are_those_of_all_records_markers_too(
    spark: Any, apache: Served, isolation: str, options: dict[str, object]
) -> None:
    """The broker does not look at transactions when it is asked for a time."""
    more = {"kafka__isolation__level": isolation, **options}
    theirs, ours = both(spark, apache, subscribe="old", **more)
    assert rows(ours) == rows(theirs)


OFFSETS = json.dumps({"everything": {"0": 10, "1": -2, "2": 200}})
BACKWARDS = json.dumps({"everything": {"0": 100_000, "1": 0, "2": 0}})
END_OFFSETS = json.dumps({"everything": {"0": 77, "1": -1, "2": 201}})
TIMES = json.dumps({"everything": {"0": BASE_MS + 3001, "1": BASE_MS, "2": BASE_MS + 10}})


@pytest.mark.parametrize(
    "options",
    [
        {"startingOffsets": OFFSETS, "endingOffsets": END_OFFSETS},
        {"startingTimestamp": BASE_MS + 2500, "endingTimestamp": BASE_MS + 4503},
        {"startingOffsetsByTimestamp": TIMES},
        {"endingOffsetsByTimestamp": TIMES, "minPartitions": 7},
        {
            "startingTimestamp": BASE_MS + 10**9,
            "startingOffsetsByTimestampStrategy": "latest",
            "startingOffsets": "earliest",
        },
    ],
    ids=["offsets", "timestamp", "starting by time", "ending by time", "later than all"],
)
def test_ranges_are_the_same(spark: Any, apache: Served, options: dict[str, object]) -> None:
    theirs, ours = both(spark, apache, subscribe="everything", **options)
    assert rows(ours) == rows(theirs)


@pytest.mark.parametrize(
    "options",
    [{"assign": '{"everything":[0,2],"stamped":[0]}'}, {"subscribePattern": "every.*|no"}],
    ids=["assign", "subscribePattern"],
)
def test_choices_are_the_same(spark: Any, apache: Served, options: dict[str, object]) -> None:
    theirs, ours = both(spark, apache, **options)
    expected = [row[2:5] for row in rows(theirs)]
    assert expected
    assert [row[2:5] for row in rows(ours)] == expected


@pytest.mark.parametrize(
    "options",
    [
        {"startingOffsets": "latest"},
        {"endingOffsets": "earliest"},
        {"startingOffsets": '{"everything":{"0":1}}'},
        {"startingTimestamp": BASE_MS + 10**9},
        {"subscribePattern": "x"},
        {"kafka__auto__offset__reset": "latest"},
        {"startingOffsets": "sometimes"},
        {"startingOffsets": BACKWARDS, "endingOffsets": END_OFFSETS},
        {"startingOffsets": BACKWARDS, "failOnDataLoss": "false"},
    ],
)
def test_what_the_connector_refuses_is_refused(
    spark: Any, apache: Served, options: dict[str, object]
) -> None:
    for source in ("kafka", "pykbroker"):
        with pytest.raises(Exception, match=r".") as caught:
            read(spark, source, apache, subscribe="everything", **options).collect()
        if source == "pykbroker":
            name = next(iter(options)).replace("__", ".")
            assert f"option {name}" in str(caught.value)


CONDITIONS = (
    "topic = 'everything' and partition in (0, 2) and offset >= 30 and offset < 170",
    "key = cast('key-3' as binary) and value is not null",
    "value is null or offset = 3",
    f"timestamp > timestamp_millis({BASE_MS + 4000}) and topic like 'every%'",
    f"timestamp <= timestamp_micros({BASE_MS * 1000 + 4_000_999}) and topic <> 'stamped'",
    "timestampType = 1 and key is null",
    "headers is not null and offset in (3, 6, 9)",
    "key > cast('key-3' as binary) and not (partition = 1)",
)


def test_a_query_gives_the_same_with_filters_pushed_down(spark: Any, apache: Served) -> None:
    choice: dict[str, object] = {"subscribe": "everything,stamped", "includeHeaders": "true"}
    theirs, ours = both(spark, apache, **choice)
    known = theirs.cache()
    for condition in CONDITIONS:
        expected = rows(known.filter(condition))
        assert expected, condition
        pushed = read(spark, "pykbroker", apache, pushdown="true", **choice)
        assert rows(pushed.filter(condition)) == expected, condition
    assert rows(ours.filter(condition)) == expected
    known.unpersist()


@pytest.mark.parametrize(
    "where, condition",
    [
        (
            "topic = 'everything' and partition in (0, 2) and offset between 30 and 169",
            "topic = 'everything' and partition in (0, 2) and offset between 30 and 169",
        ),
        (
            "key = 'key-3' and value is not null",
            "key = cast('key-3' as binary) and value is not null",
        ),
        (
            "timestamp >= '2023-11-14T22:13:24.001+00:00' and key like 'key-1%'",
            f"timestamp >= timestamp_millis({BASE_MS + 4001}) and string(key) like 'key-1%'",
        ),
        ("value_size > 100000 and topic <> 'stamped'", "length(value) > 100000 and topic < 's'"),
    ],
)
def test_where_is_the_same_as_a_filter(
    spark: Any, apache: Served, where: str, condition: str
) -> None:
    theirs = read(spark, "kafka", apache, subscribe="everything,stamped")
    ours = read(spark, "pykbroker", apache, subscribe="everything,stamped", where=where)
    expected = rows(theirs.filter(condition))
    assert expected
    assert rows(ours) == expected
