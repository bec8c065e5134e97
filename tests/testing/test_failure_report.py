"""Sections of a failed test's report: the ends of the logs of its brokers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pykbroker.testing import Broker, Cluster, SharedBroker
from pykbroker.testing.failure_report import MOST_LINES, log_sections


class LoggedBroker(Broker):
    """A broker that never runs, with a log of our own."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    @property
    def log_text(self) -> str:
        return self.text


def test_brokers_among_other_fixtures() -> None:
    fixtures = {"number": 3, "first": LoggedBroker("a\nb\n"), "second": LoggedBroker("c\n")}
    assert log_sections(fixtures, {}) == [("Log of first", "a\nb"), ("Log of second", "c")]


def test_of_a_shared_broker_only_the_part_of_the_test() -> None:
    broker = LoggedBroker("other test\nmine\n")
    fixtures = {"shared": SharedBroker(broker, "test"), "session": broker}
    assert log_sections(fixtures, {broker: 11}) == [("Log of shared", "mine")]
    assert log_sections(fixtures, {broker: 16}) == []


def test_long_logs_lose_their_beginning() -> None:
    text = "".join(f"line {number}\n" for number in range(MOST_LINES + 20))
    ((_, shown),) = log_sections({"broker": LoggedBroker(text)}, {})
    lines = shown.splitlines()
    assert lines[:2] == ["(20 lines before)", "line 20"]
    assert len(lines) == MOST_LINES + 1


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(2, directory=tmp_path)
    yield cluster
    cluster.close()


def test_nodes_of_a_cluster(stopped: Cluster) -> None:
    assert log_sections({"cluster": stopped}, {}) == []
    (stopped.directory / "node-2.log").write_text("from node 2\n")
    assert log_sections({"cluster": stopped}, {}) == [("Log of cluster, node 2", "from node 2")]
