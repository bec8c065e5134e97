"""The hash and the lines of a timeline."""

from __future__ import annotations

import logging

from pykbroker.testing.world.timeline import Timeline, TimelineHandler
from pykbroker.testing.world.virtual_time import EventQueue, Process


def test_the_digest_is_of_notes_and_bytes_with_their_times() -> None:
    def digest(*, at_us: int = 5, text: str = "x", payload: bytes = b"p", log: str = "") -> str:
        queue = EventQueue()
        timeline = Timeline(queue)
        queue.now_us = at_us
        timeline.note("who", text)
        timeline.bytes_arrived("a", "b", payload)
        if log:
            timeline.log("who", log)
        return timeline.digest

    assert digest() == digest() == digest(log="at 0x7f0011")
    assert len({digest(), digest(at_us=6), digest(text="y"), digest(payload=b"q")}) == 4


def test_lines_are_for_a_reader_and_bounded() -> None:
    queue = EventQueue()
    timeline = Timeline(queue, lines_kept=3)
    for number in range(5):
        queue.now_us = number * 500_000
        timeline.note("node-1", f"event {number}")
    assert timeline.lines() == [
        "    1.000000 s  node-1       event 2",
        "    1.500000 s  node-1       event 3",
        "    2.000000 s  node-1       event 4",
    ]
    assert timeline.lines(1) == ["    2.000000 s  node-1       event 4"]
    assert timeline.notes == 5


def test_log_lines_name_the_process_that_runs() -> None:
    queue = EventQueue()
    timeline = Timeline(queue)
    logger = logging.Logger("pykbroker.test")
    logger.addHandler(TimelineHandler(timeline, queue, logging.WARNING))
    queue.at(1, Process("node-2"), logger.warning, "disk %s", "d")
    queue.at(2, None, logger.info, "not shown")
    while queue.step():
        continue
    assert timeline.lines() == ["    0.000001 s  node-2       [WARNING] pykbroker.test: disk d"]
