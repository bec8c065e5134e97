"""A request for every array of every API."""

from __future__ import annotations

from benchmarks.micro.bench_holds import NODES_ONLY, attacks
from pykbroker.broker.handlers import make_routes
from tests.benchmarks.running import check_rows, run


def test_rows_of_some_apis() -> None:
    lines = run(
        "micro.bench_holds",
        "--elements",
        "1200",
        "--apis",
        "Metadata",
        "DeleteRecords",
        is_quiet=False,
    )
    rows = [line.partition(" ms  ")[0] for line in lines]  # behind that: what held the loop
    check_rows(rows, ["Metadata topics", "DeleteRecords topics ", "DeleteRecords topics."], 3)


def test_every_api_with_an_array_is_asked() -> None:
    asked = set()
    for route in make_routes():
        if route.on_broker and route.api.name not in NODES_ONLY:
            for _, message in attacks(route.api, 3):
                message.encode([], route.api.max_version)
                asked.add(route.api.name)
    assert {"Produce", "Fetch", "OffsetFetch", "CreateTopics", "ListConfigResources"} <= asked
