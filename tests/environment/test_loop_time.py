"""The histograms of what held the event loop, and the warning about it."""

from __future__ import annotations

import logging

import pytest

from pykbroker.environment.loop_time import BOUNDS_MS, LINE_EVERY_NS, MS, Laps, LoopTime


def test_each_time_is_in_one_bucket_of_its_unit() -> None:
    loop_time = LoopTime()
    for ms in (1, 2, 3, 50, 51, 6000):
        loop_time.record("Metadata", 7 * MS, (7 + ms) * MS)
    loop_time.record("Fetch", 0, 4 * MS)
    times = loop_time.by_unit["Metadata"]
    by_bound = dict(zip((*BOUNDS_MS, None), times.counts, strict=True))
    assert {bound: count for bound, count in by_bound.items() if count} == {
        2: 2,
        5: 1,
        50: 1,
        100: 1,
        None: 1,
    }
    assert times.longest_ns == 6000 * MS
    assert times.total_ns == 6107 * MS
    assert loop_time.by_unit["Fetch"].total_ns == 4 * MS


def test_a_long_unit_is_named_with_its_time(caplog: pytest.LogCaptureFixture) -> None:
    loop_time = LoopTime()
    loop_time.record("Metadata", 0, 49 * MS)
    assert not caplog.records
    loop_time.record("Metadata", 0, 1234 * MS)
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert line.getMessage() == (
        "Metadata held the event loop for 1234 ms, during which no other client was served"
    )


def test_lines_are_rare_and_count_what_they_leave_out(caplog: pytest.LogCaptureFixture) -> None:
    loop_time = LoopTime()
    for started_ns in (0, 100 * MS, 200 * MS):
        loop_time.record("Fetch", started_ns, started_ns + 90 * MS)
    assert len(caplog.records) == 1
    loop_time.record("JoinGroup", LINE_EVERY_NS + 100 * MS, LINE_EVERY_NS + 190 * MS)
    assert caplog.records[1].getMessage() == (
        "JoinGroup held the event loop for 90 ms, during which no other client was served "
        "(2 similar lines omitted)"
    )
    assert loop_time.by_unit["Fetch"].counts[BOUNDS_MS.index(100)] == 3


def test_laps_record_what_is_long_and_follow_each_other() -> None:
    loop_time = LoopTime()
    times = iter((5 * MS, 7 * MS, 8 * MS - 1, 11 * MS))
    laps = Laps(loop_time, lambda: next(times))
    assert laps.start() == 5 * MS
    assert laps.lap("Fetch") == 7 * MS
    assert laps.lap("short") == 8 * MS - 1
    assert laps.lap("sends") == 11 * MS
    held = {unit: found.total_ns for unit, found in loop_time.by_unit.items()}
    assert held == {"Fetch": 2 * MS, "sends": 3 * MS + 1}
