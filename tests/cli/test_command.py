from __future__ import annotations

import argparse

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


def test_whole_numbers_are_those_that_java_takes() -> None:
    short = command.whole_number(16)
    assert [short(text) for text in ("0", "-32768", "+7", "007")] == [0, -32768, 7, 7]
    for text in ("", "-", "+-1", "1_0", "٣", " 1", "1.0", "x"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"' is not a whole number$"):
            short(text)
    for text in ("32768", "-32769", "9" * 30):
        with pytest.raises(argparse.ArgumentTypeError, match=r"is not from -32768 to 32767$"):
            short(text)


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    command.print_table(("A", "Long"), [("wide", "x"), ("", "y")])
    assert capsys.readouterr().out == "A   \tLong\t\nwide\tx   \t\n    \ty   \t\n"
    command.print_table(("A", "Long"), [])
    assert capsys.readouterr().out == "A\tLong\t\n"
