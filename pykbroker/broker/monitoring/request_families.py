"""Requests by API, and units of work that held the event loop: `kafka_network_*`, `pykbroker_*`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pykbroker.broker.handlers import Route
from pykbroker.broker.monitoring.families import Families
from pykbroker.broker.monitoring.request_times import BOUNDS_SECONDS, RequestTimes
from pykbroker.environment.loop_time import BOUNDS_MS, HeldTimes
from pykbroker.errors import error_name

_HELD_BOUNDS_SECONDS = tuple(bound / 1000 for bound in BOUNDS_MS)
_NS = 1_000_000_000


def add_requests(
    families: Families, routes: Sequence[Route], times: Sequence[RequestTimes], now_ms: int
) -> None:
    """Counts, times, errors and bytes of every API that was used."""
    requests = families.counter(
        "kafka_network_requestmetrics_requests_total", "Requests served.", "request", "version"
    )
    errors = families.counter(
        "kafka_network_requestmetrics_errors_total",
        "Errors in responses: of whole requests, and of the partitions, topics or groups named.",
        "request",
        "error",
    )
    quantiles = families.gauge(
        "kafka_network_requestmetrics_totaltimems",
        "Milliseconds from taking a request to its response, over the last minute.",
        "request",
        "quantile",
    )
    counts = families.untyped(
        "kafka_network_requestmetrics_totaltimems_count", "Requests whose time is known.", "request"
    )
    seconds = families.histogram(
        "pykbroker_request_seconds", "Seconds from taking a request to its response.", "request"
    )
    received = families.counter(
        "pykbroker_request_bytes_total", "Bytes of requests, without their length.", "request"
    )
    sent = families.counter("pykbroker_response_bytes_total", "Bytes of responses.", "request")
    for route in routes:
        of_api, name = times[route.api.key], route.api.name
        if not any(of_api.counts):
            continue
        for version, count in enumerate(of_api.by_version):
            if count:
                requests.add(count, name, str(version))
        for code, count in of_api.errors.items():
            errors.add(count, name, error_name(code))
        for quantile, value in of_api.quantiles_ms(now_ms):
            quantiles.add(value, name, f"{quantile:.2f}" if quantile != 0.999 else "0.999")
        counts.add(sum(of_api.counts), name)
        seconds.add(BOUNDS_SECONDS, of_api.counts, of_api.total_ns / _NS, name)
        received.add(of_api.request_bytes, name)
        sent.add(of_api.response_bytes, name)


def add_loop_time(families: Families, by_unit: Mapping[str, HeldTimes]) -> None:
    """Add the units of work that held the event loop for a millisecond or more."""
    held = families.histogram(
        "pykbroker_loop_held_seconds",
        "Times for which a unit of work held the event loop, if 1 ms or more.",
        "unit",
    )
    longest = families.gauge(
        "pykbroker_loop_held_longest_seconds", "The longest such time since the start.", "unit"
    )
    for unit, times in by_unit.items():
        held.add(_HELD_BOUNDS_SECONDS, times.counts, times.total_ns / _NS, unit)
        longest.add(times.longest_ns / _NS, unit)
