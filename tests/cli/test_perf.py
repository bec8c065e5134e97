from __future__ import annotations

from tests.cli.conftest import Run


def test_help_of_each_test(run: Run) -> None:
    for name in ("produce", "consume", "end-to-end"):
        assert run("perf", name, "--help").out.startswith(f"usage: pykbroker perf {name}")
        assert name in run("perf", "--help").out


def test_without_a_subcommand(run: Run) -> None:
    outcome = run("perf")
    assert (outcome.code, outcome.out) == (1, "")
    assert "are required: {produce,consume,end-to-end}\n" in outcome.err
