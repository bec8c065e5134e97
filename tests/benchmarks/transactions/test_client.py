"""The transactional client: its figures, and what it says when it is asked wrongly."""

from __future__ import annotations

import json

import pytest

from benchmarks.compare.servers import Server
from tests.benchmarks.running import run

pytestmark = pytest.mark.interop

FIGURES = {
    "latency": (("5",), {"p50_ms", "p99_ms", "commit_p50_ms", "commit_p99_ms"}),
    "produce": (("1024", "2"), {"seconds", "records_per_second"}),
    "many": (("60", "2"), {"seconds", "per_second"}),
}


@pytest.mark.parametrize("verb", FIGURES)
def test_every_verb_has_its_figures(server: Server, verb: str) -> None:
    numbers, names = FIGURES[verb]
    topic = server.new_topic(3)
    (line,) = run("transactions.client", verb, server.address, topic, *numbers)
    found = json.loads(line)
    assert found.keys() == names
    assert all(figure > 0 for figure in found.values())


def test_wrong_arguments() -> None:
    with pytest.raises(AssertionError, match="required: ids, rounds"):
        run("transactions.client", "many", "127.0.0.1:1", "t")
