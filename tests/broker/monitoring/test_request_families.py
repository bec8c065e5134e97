from __future__ import annotations

from pykbroker.broker.handlers import Route
from pykbroker.broker.monitoring.families import Families, render
from pykbroker.broker.monitoring.request_families import add_loop_time, add_requests
from pykbroker.broker.monitoring.request_times import RequestTimes
from pykbroker.environment.loop_time import LoopTime


def test_requests_by_api() -> None:
    routes = [Route("Heartbeat", "unused", False, None), Route("Fetch", "unused", False, None)]
    times = [RequestTimes() for _ in range(128)]
    beats = times[routes[0].api.key]
    beats.by_version[4] = 2
    beats.counts[7] = 2
    beats.total_ns = 2_000_000
    beats.request_bytes, beats.response_bytes = 80, 40
    beats.count_error(25)
    families = Families()
    add_requests(families, routes, times, 0)
    text = render(families).decode()
    prefix = "kafka_network_requestmetrics"
    for line in (
        f'{prefix}_requests_total{{request="Heartbeat",version="4"}} 2.0',
        f'{prefix}_errors_total{{error="UNKNOWN_MEMBER_ID",request="Heartbeat"}} 1.0',
        f'{prefix}_totaltimems{{quantile="0.50",request="Heartbeat"}} 0.85',
        f'{prefix}_totaltimems_count{{request="Heartbeat"}} 2.0',
        'pykbroker_request_seconds_bucket{le="0.001",request="Heartbeat"} 2.0',
        'pykbroker_request_seconds_sum{request="Heartbeat"} 0.002',
        'pykbroker_request_bytes_total{request="Heartbeat"} 80.0',
        'pykbroker_response_bytes_total{request="Heartbeat"} 40.0',
    ):
        assert f"\n{line}\n" in text, line
    assert 'quantile="0.999"' in text
    assert "Fetch" not in text  # nobody asked for it


def test_what_held_the_loop() -> None:
    loop_time = LoopTime()
    loop_time.record("Metadata", 0, 8_000_000)
    families = Families()
    add_loop_time(families, loop_time.by_unit)
    text = render(families).decode()
    assert 'pykbroker_loop_held_seconds_bucket{le="0.01",unit="Metadata"} 1.0' in text
    assert 'pykbroker_loop_held_seconds_sum{unit="Metadata"} 0.008' in text
    assert 'pykbroker_loop_held_longest_seconds{unit="Metadata"} 0.008' in text
