"""One line a peer, and no flood."""

from __future__ import annotations

import logging

import pytest

from pykbroker.network.peer_log import LINES_PER_WINDOW, WINDOW_MS, PeerLog


def test_lines_are_limited_and_the_rest_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    log = PeerLog()
    with caplog.at_level(logging.WARNING, "pykbroker.network"):
        for _ in range(LINES_PER_WINDOW + 5):
            log.closed("10.0.0.1:5", "PLAINTEXT", "it is a stranger", 100_000)
        log.closed("10.0.0.1:5", "PLAINTEXT", "again", 100_000 + WINDOW_MS)
        log.closed("10.0.0.1:5", "PLAINTEXT", "and again", 100_000 + WINDOW_MS)
    lines = [record.getMessage() for record in caplog.records]
    start = "closed the connection of 10.0.0.1:5 on listener PLAINTEXT: "
    first = start + "it is a stranger"
    assert lines == [first] * LINES_PER_WINDOW + [
        start + "again (5 similar lines omitted)",
        start + "and again",
    ]
