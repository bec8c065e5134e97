"""What every command shares: its parser, its error, its output.

A command is a module with `DESCRIPTION`, `add_arguments(parser)` and `run(options) -> int`.
Flags and output are those of Apache Kafka's script for the same task, if there is one. Exit codes
are 0 when all went well, 130 after Ctrl-C (which ends `start` and `cluster` as it should: 0), and 1
for anything else, wrong usage included, as with Apache's scripts.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Protocol


class Command(Protocol):
    DESCRIPTION: str

    def add_arguments(self, parser: CommandParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


class CommandError(Exception):
    """A command cannot do what was requested: told on standard error, with exit code 1."""


class _FixedWidth(argparse.RawDescriptionHelpFormatter):
    """Does not ask for the width of the terminal, for which argparse imports `shutil`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser that exits with code 1 on usage errors.

    `add_argument` checks each argument with a formatter; only help needs the width.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_FixedWidth, **settings)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        from pykbroker.cli.near_names import near_flag

        message += near_flag(message, self)
        self.exit(1, f"{self.prog}: {message}\nSee {self.prog} --help for its options.\n")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def is_number(text: str) -> bool:
    """Return whether `text` is a whole number of at most 19 digits without a sign.

    str.isdigit is true for digits that int() rejects, such as a superscript two.
    """
    return text.isascii() and text.isdigit() and len(text) <= 19


def whole_number(bits: int) -> Callable[[str], int]:
    """Return an option type: a whole number of at most `bits` bits, with or without a sign."""

    limit = 1 << (bits - 1)

    def parse(text: str) -> int:
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        if is_number(digits) and -limit <= (number := int(text)) < limit:
            return number
        raise argparse.ArgumentTypeError(f"{text} is not from {-limit} to {limit - 1}")

    return parse


def print_json(value: object) -> None:
    import json

    print(json.dumps(value, indent=2))


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table like ToolsUtils.prettyPrintTable: padded columns, each followed by a tab."""
    lines = [titles, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("".join(f"{text:<{width}}\t" for text, width in zip(line, widths, strict=True)))


def run_guarded(action: Callable[[], int]) -> int:
    """Run a command and return its exit code: 1 for a CommandError, which is printed on standard
    error, and if the reader of standard output has gone; 130 for Ctrl-C.
    """
    try:
        code = action()
        sys.stdout.flush()
        return code
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has exited (`| head`). The interpreter must not flush to it
        # at its end (it would exit with 120).
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.close()
        return 1
