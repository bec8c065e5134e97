from __future__ import annotations

import pytest

from pykbroker.cli.perf_statistics import ProducerStatistics, percentiles, print_metrics


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def test_percentiles() -> None:
    latencies = list(range(1000, 0, -1))
    assert percentiles(latencies, 0.5, 0.95, 0.99, 0.999) == [501, 951, 991, 1000]
    assert percentiles([7], 0.5, 0.999) == [7, 7]


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """In the format of Apache's tool."""
    clock = Clock()
    statistics = ProducerStatistics(4, 1000, clock_ms=clock)
    for latency, at in ((10, 500), (20, 1000), (30, 1500), (40, 2000)):
        clock.now = at
        statistics.record(latency, 1024 * 1024)
    assert capsys.readouterr().out.splitlines() == [
        "2 records sent, 2.0 records/sec (2.00 MB/sec), 15.0 ms avg latency, 20.0 ms max latency.",
        "2 records sent, 2.0 records/sec (2.00 MB/sec), 35.0 ms avg latency, 40.0 ms max latency.",
    ]
    assert statistics.total_line() == (
        "4 records sent, 2.000000 records/sec (2.00 MB/sec), 25.00 ms avg latency, "
        "40.00 ms max latency, 30 ms 50th, 40 ms 95th, 40 ms 99th, 40 ms 99.9th."
    )


def test_steady_state(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    all_, steady = (
        ProducerStatistics(4, 1000, steady=each, clock_ms=clock) for each in (False, True)
    )
    all_.is_silent = True
    for at in (1000, 2000):
        clock.now = at
        for each in (all_, steady):
            each.record(5, 0)
    window = (
        "1 records sent, 1.0 records/sec (0.00 MB/sec), 5.0 ms avg latency, 5.0 ms max latency."
    )
    assert capsys.readouterr().out.splitlines() == ["In steady state.", window, window]
    assert steady.total_line().startswith("2 steady state records sent, 1.000000 records/sec")


def test_nothing_was_acknowledged() -> None:
    assert ProducerStatistics(4, 1000, clock_ms=Clock()).total_line().startswith("0 records sent")


def test_only_some_latencies_are_kept_of_very_many() -> None:
    statistics = ProducerStatistics(5_000_000, 1000, clock_ms=Clock())
    for number in range(100):
        statistics.record(number, 1)
    assert statistics._samples == list(range(0, 100, 10))


def test_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    print_metrics({"producer": {"rate": 1.5, "name": "x"}, "count": {"count": 3}})
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Metric Name   Value",
        "count:count   : 3.000",
        "producer:rate : 1.500",
    ]
