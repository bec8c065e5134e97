"""Logs that exactly-once programs left behind under kills: Spark reads them as a consumer does.

Apache's copiers, Kafka Streams and Kafka Connect write, and are killed with the broker. Spark's own
connector then reads through the Java consumer, we read the files: every row is the same, offsets
too, in both isolation levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from pykbroker.testing import Broker
from tests.harness.markers import await_ends
from tests.interop.test_connect import delivered
from tests.interop.test_copy_under_kills import copied
from tests.interop.test_streams import counted
from tests.spark.test_connector import Served, both, rows

# Written while they are read: by the broker, by Connect's worker, and by Streams, which deletes
# records of its repartition topics; that is in the directory only at the next checkpoint.
INTERNAL = ("__", "connect-", "word-count-")


@contextmanager
def copies(directory: Path) -> Iterator[tuple[Broker, str]]:
    with copied(directory, "o", 2000) as cluster:
        assert isinstance(cluster, Broker)
        yield cluster, "target"


@contextmanager
def word_counts(directory: Path) -> Iterator[tuple[Broker, str]]:
    with counted(directory, "o") as (cluster, _):
        assert isinstance(cluster, Broker)
        yield cluster, "counts"


@contextmanager
def lines(directory: Path) -> Iterator[tuple[Broker, str]]:
    with delivered(directory) as (broker, _, _):
        yield broker, "lines"


@pytest.mark.slow
@pytest.mark.parametrize("program", [copies, word_counts, lines])
def test_every_row_is_that_of_the_java_consumer(spark: Any, tmp_path: Path, program: Any) -> None:
    run: AbstractContextManager[tuple[Broker, str]] = program(tmp_path)
    with run as (broker, topic):
        served = Served(broker)
        await_ends(served.servers, "Ongoing")  # what a killed program had begun times out
        names = AdminClient({"bootstrap.servers": served.servers}).list_topics(timeout=60).topics
        topics = ",".join(sorted(name for name in names if not name.startswith(INTERNAL)))
        found: dict[str, list[Any]] = {}
        for isolation in ("read_committed", "read_uncommitted"):
            theirs, ours = both(spark, served, subscribe=topics, kafka__isolation__level=isolation)
            found[isolation] = rows(ours)
            assert found[isolation] == rows(theirs)
        of_topic = [row for row in found["read_committed"] if row[2] == topic]
        committed = {(row[3], row[4]) for row in of_topic}
        everything = {(row[3], row[4]) for row in found["read_uncommitted"] if row[2] == topic}
        assert committed <= everything
        if program is copies:  # the others abort only what a kill interrupts
            assert committed != everything
