"""`pykbroker config check`: explains each key of a configuration file without starting a node.

In: a file, KAFKA_... variables of the environment and --override, as `pykbroker start` takes them.
Out: a table of the keys that are set, what is filled in, and what would prevent the start. Exit
code 0 if the configuration is valid, else 1.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Final

from pykbroker.cli.command import CommandError, CommandParser, add_json, print_json
from pykbroker.config.check import Report, check_properties
from pykbroker.config.definition import ConfigError
from pykbroker.config.load import foreign_variables, load_config

DESCRIPTION: Final = "Check a configuration file and explain what each of its keys does."
_TITLES: Final = ("KEY", "VALUE", "EFFECT", "SET IN")
_WIDEST_VALUE: Final = 40


def add_arguments(parser: CommandParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="{check}")
    check = commands.add_parser("check", help="explain each key of a file without starting a node")
    check.add_argument("file", metavar="FILE", help="server.properties or YAML file")
    check.add_argument(
        "--override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a value that overrides the file; may be repeated",
    )
    add_json(check)


def run(options: argparse.Namespace) -> int:
    try:
        properties = load_config(options.file, os.environ, options.override)
    except ConfigError as error:
        raise CommandError(f"pykbroker config check: {error.message}") from error
    for warning in foreign_variables(os.environ):
        print(warning, file=sys.stderr)
    report = check_properties(properties)
    if options.json:
        print_json(_json(report))
    else:
        print("\n".join(_lines(report)))
    return 1 if report.errors else 0


def _lines(report: Report) -> Iterator[str]:
    rows = [
        (each.key, _shortened(each.value), each.effect.value, each.origin, each.why)
        for each in report.findings
    ]
    if rows:
        yield from _table(rows)
    else:
        yield "No key is set."
    if report.filled_in:
        yield ""
        yield "Neither roles nor quorum are set: one node that stands alone, with"
        yield from (f"  {name}={text}" for name, text in report.filled_in.items())
    yield ""
    if not report.errors:
        yield "The configuration is valid."
        return
    yield "A start is refused:"
    yield from (f"  {error}" for error in report.errors)


def _table(rows: list[tuple[str, str, str, str, str]]) -> Iterator[str]:
    """Yield lines of aligned columns; the reason, which is a sentence, is on a line of its own."""
    lines = [_TITLES, *(row[:4] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    yield _aligned(_TITLES, widths)
    for *cells, why in rows:
        yield _aligned(cells, widths)
        if why:
            yield f"    {why}"


def _aligned(cells: Iterable[str], widths: list[int]) -> str:
    padded = (f"{text:<{width}}" for text, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def _shortened(value: str) -> str:
    return value if len(value) <= _WIDEST_VALUE else value[: _WIDEST_VALUE - 3] + "..."


def _json(report: Report) -> dict[str, object]:
    return {
        "keys": [
            {
                "key": each.key,
                "value": each.value,
                "effect": each.effect.value,
                "reason": each.why,
                "set_in": each.origin,
            }
            for each in report.findings
        ],
        "filled_in": dict(report.filled_in),
        "errors": list(report.errors),
        "valid": not report.errors,
    }
