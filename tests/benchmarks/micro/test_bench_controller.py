"""Every row, of a small and of a larger cluster."""

from __future__ import annotations

from tests.benchmarks.running import check_rows, run

STEPS = (
    "a heartbeat that changes nothing",
    "fencing a broker",
    "its registration",
    "unfencing it",
    "elections by the clock, none needed",
    "the index at the begin of a term",
)


def test_every_step_has_its_row() -> None:
    options = ("--partitions", "200", "--brokers", "3", "--rounds", "1")
    lines = run("micro.bench_controller", *options)
    for count, rows in ((2, lines[: len(lines) // 2]), (200, lines[len(lines) // 2 :])):
        first, *steps, last = rows
        check_rows([first], [f"creating {count} partitions"], 1)
        check_rows([last], [f"the index, {count} partitions"], 1)
        check_rows([steps[1]], [f"{STEPS[1]}, {count} partitions"], 4)  # partitions, longest hold
        check_rows(
            [steps[0], *steps[2:]],
            [f"{name}, {count} partitions" for name in (STEPS[0], *STEPS[2:])],
            2,  # median, best
        )
