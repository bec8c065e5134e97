from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pykbroker.cli.main import COMMANDS
from tests.cli.conftest import Run


def test_help_lists_every_command(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    for name in COMMANDS:
        assert f"  {name} " in outcome.out


def test_help_names_the_version_flag(run: Run) -> None:
    assert "pykbroker --version shows the version." in run("--help").out
    outcome = run("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("pykbroker 0.")


def test_without_a_command(run: Run) -> None:
    outcome = run()
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("usage: pykbroker COMMAND")


def test_unknown_command(run: Run) -> None:
    outcome = run("topic")
    assert (outcome.code, outcome.err) == (
        1,
        "pykbroker: unknown command topic. Did you mean topics? See pykbroker --help.\n",
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    outcome = run(name, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"usage: pykbroker {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_usage_is_exit_code_1(run: Run, name: str) -> None:
    outcome = run(name, "--no-such-flag")
    assert outcome.out == ""
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == f"See pykbroker {name} --help for its options."


def test_start_imports_nothing_that_it_does_not_need() -> None:
    """Start-up time: no YAML, no client library, no metrics exporter."""
    program = (
        "import sys\n"
        "import pykbroker.cli.start, pykbroker.broker.server\n"
        "print([name for name in ('yaml', 'kafka', 'prometheus_client') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_command_is_documented() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"| `{name}" in page, name
