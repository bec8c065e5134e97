"""Every part of replication is served, and has its row."""

from __future__ import annotations

from tests.benchmarks.running import check_rows, run

ROWS = [
    "an idle session of 20 partitions, a fetch",
    *(
        f"produce acks={acks}, partitions {partitions}, replicas {replicas}"
        for partitions in (1, 10)
        for acks in (1, -1)
        for replicas in ("1", "3", "3, on top of one")
    ),
    "a batch on a follower, 1 of 1 partitions an answer",
    "a batch on a follower, 20 of 1 partitions an answer",
    "a batch on a follower, 2 of 10 partitions an answer",
]
WORDS = ("--rounds", "3", "--scale", "0.02", "--partitions", "20")


def test_every_part_has_its_row() -> None:
    lines = run("micro.bench_replication", *WORDS)
    check_rows(lines[:-1], ROWS, 2)  # median, best
    check_rows(lines[-1:], ["looks at 10 polls, 20 requests a turn"], 1)


def test_a_profile_names_functions() -> None:
    output = "\n".join(run("micro.bench_replication", *WORDS, "--profile", "on a follower"))
    assert "Ordered by: internal time" in output
    assert "follower_log.py" in output
