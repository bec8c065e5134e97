"""The quorum with many partitions beside Apache Kafka's, once, small."""

from __future__ import annotations

import pytest

from tests.benchmarks.running import numbers, run

PHASES = (
    *("creating all", "fencing a broker", "clearing eligible leaders", "unfencing it"),
    *("a voter starts again", "an empty voter starts", "another leads"),
)


@pytest.mark.interop
@pytest.mark.timeout(1260)
def test_both_quorums_go_through_every_phase() -> None:
    lines = run("controllers", "--partitions", "120")
    assert [line for line in lines if not line.startswith(" ")][:2] == ["pykbroker", "Apache Kafka"]
    for phase in PHASES:
        times = [line for line in lines if line.startswith(f"  {phase}: ")]
        assert len(times) == 2, (phase, lines)
    memory = [line for line in lines if "bytes a partition" in line]
    assert [len(numbers(line.split("(")[0])) for line in memory] == [3, 3]
    assert lines[-1].startswith("creation, pykbroker / Apache Kafka: ")
    assert numbers(lines[-1])[0] > 0
