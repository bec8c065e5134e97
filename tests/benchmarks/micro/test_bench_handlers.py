"""Every kind of request is served, and has its row."""

from __future__ import annotations

import pytest

from benchmarks.micro.bench_handlers import served
from pykbroker.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from tests.benchmarks.running import check_rows, run

ROWS = [
    "produce acks=1 alone",
    "produce acks=1 gathered",
    "produce acks=-1 alone",
    "produce acks=-1 gathered",
    "produce 10 partitions alone",
    "fetch 1 partition, no session",
    "fetch 10 partitions, no session",
    "fetch 1 at the end, in a session",
    "fetch 10 at the end, in a session",
]


def test_every_kind_of_request_has_its_row() -> None:
    lines = run("micro.bench_handlers", "--rounds", "3", "--scale", "0.002")
    check_rows(lines, ROWS, 7)  # median, best, spread, and four steps


def test_a_profile_names_functions() -> None:
    words = ("--rounds", "1", "--scale", "0.002", "--profile", "produce")
    output = "\n".join(run("micro.bench_handlers", *words))
    assert "Ordered by: internal time" in output
    assert "produce.py" in output
    assert ROWS[-1] in output


def test_a_refusal_deep_in_a_reply_is_no_figure() -> None:
    partition = PartitionData(partition_index=0, high_watermark=0)
    topic = FetchableTopicResponse(topic="t", partitions=[partition])
    reply = FetchResponse(responses=[topic])
    served("a fetch", [reply])
    partition.error_code = 3
    with pytest.raises(AssertionError, match="a fetch"):
        served("a fetch", [reply])
