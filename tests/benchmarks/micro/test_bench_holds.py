"""A request for every array of every API."""

from __future__ import annotations

from benchmarks.micro.bench_holds import NODES_ONLY, attacks
from pykbroker.broker.handlers import make_routes
from tests.benchmarks.running import numbers, run


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
    arrays = ("Metadata topics", "DeleteRecords topics", "DeleteRecords topics.partitions")
    first, *others = (f"{array}, one element " for array in arrays)
    names = [first, f"{arrays[0]} ", *others, *(f"{array} " for array in arrays[1:])]
    for row, name in zip(rows, names, strict=True):
        assert row.startswith(name)
        answered_ms, *held = numbers(row.removeprefix(name))
        assert answered_ms > 0
        assert len(held) == 2  # of one element they may be shorter than is shown


def test_every_api_with_an_array_is_asked() -> None:
    asked = set()
    for route in make_routes():
        if route.on_broker and route.api.name not in NODES_ONLY:
            for _, message in attacks(route.api, 3):
                message.encode([], route.api.max_version)
                asked.add(route.api.name)
    assert {"Produce", "Fetch", "OffsetFetch", "CreateTopics", "ListConfigResources"} <= asked
