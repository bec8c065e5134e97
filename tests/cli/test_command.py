from __future__ import annotations

import pytest

from pykbroker.cli import command
from pykbroker.cli.command import CommandError


def test_what_a_command_cannot_do_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise CommandError("It cannot.")

    def interrupt() -> int:
        raise KeyboardInterrupt

    assert command.run_guarded(fail) == 1
    assert capsys.readouterr().err == "It cannot.\n"
    assert command.run_guarded(interrupt) == 130
