"""The client of the comparison: its figures, and what it says of a broker that is not there."""

from __future__ import annotations

import json

import pytest

from benchmarks.compare.servers import Server
from tests.benchmarks.running import run

pytestmark = pytest.mark.interop


def figures(*words: str) -> dict[str, float]:
    (line,) = run("compare.librdkafka", *words)
    found: dict[str, float] = json.loads(line)
    assert all(figure > 0 for figure in found.values())
    return found


def test_every_verb_has_its_figures(server: Server) -> None:
    topic = server.new_topic()
    written = figures("produce", server.address, topic, "100", "2000")
    read = figures("consume", server.address, topic, "2000")
    assert written.keys() == read.keys() == {"seconds", "per_second"}
    one_by_one = figures("latency", server.address, topic, "100", "20")
    assert one_by_one.keys() == {"p50_ms", "p99_ms"}
    assert one_by_one["p50_ms"] <= one_by_one["p99_ms"]
    server.delete_topic(topic)


@pytest.mark.parametrize(
    "words, told",
    (
        (("produce", "127.0.0.1:1"), "required: topic, size, count"),
        (("consume", "127.0.0.1:1", "t", "0"), "argument count: 0 is less than 1"),
        (("shout",), "invalid choice: 'shout'"),
    ),
)
def test_wrong_arguments(words: tuple[str, ...], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        run("compare.librdkafka", *words)
