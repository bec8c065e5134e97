"""`pykbroker perf produce|consume|end-to-end`: Apache's performance tests, on kafka-python."""

from __future__ import annotations

import argparse
from typing import Final, cast

from pykbroker.cli import perf_consume, perf_end_to_end, perf_produce
from pykbroker.cli.command import Command, CommandParser

DESCRIPTION: Final = """Measure producing, consuming and end-to-end latency.

The client is kafka-python: its own speed bounds what is measured."""

_SUBCOMMANDS: Final = {
    "produce": perf_produce,
    "consume": perf_consume,
    "end-to-end": perf_end_to_end,
}


def add_arguments(parser: CommandParser) -> None:
    names = "{" + ",".join(_SUBCOMMANDS) + "}"
    choices = parser.add_subparsers(dest="subcommand", required=True, metavar=names)
    for name, module in _SUBCOMMANDS.items():
        command = cast(Command, module)
        text = command.DESCRIPTION
        command.add_arguments(choices.add_parser(name, help=text, description=text))


def run(options: argparse.Namespace) -> int:
    return cast(Command, _SUBCOMMANDS[options.subcommand]).run(options)
