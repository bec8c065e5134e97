"""The command line and the printed table of a comparison."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from benchmarks.command_line import amount, count, parser_for
from benchmarks.compare.awake import processors_awake
from benchmarks.compare.measure import Outcome, Row, measure
from benchmarks.compare.servers import Servers, both_servers
from benchmarks.figures import write_figures


def compare(
    module: str,
    documentation: str | None,
    rows: Sequence[Row],
    words: Sequence[str] | None,
    start: Callable[[], AbstractContextManager[Servers]] = both_servers,
) -> int:
    """Run the chosen rows on what `start` starts; a client failure ends the run."""
    arguments = _arguments(module, documentation or "", rows, words)
    print(f"{'':<44} {'pykbroker':>12} {'Apache 4.4':>12} {'':<8} {'ratio':>6} (min-max) goal")
    outcomes = []
    awake = processors_awake() if arguments.awake else nullcontext()
    with start() as servers, awake:
        for row in arguments.rows:
            outcome = measure(
                row, servers, arguments.rounds, arguments.scale, is_warm=not arguments.cold
            )
            outcomes.append(outcome)
            _print_row(outcome)
    if arguments.json:
        write_figures(arguments.json, [each.as_json() for each in outcomes])
    return 0


def _arguments(
    module: str, documentation: str, rows: Sequence[Row], words: Sequence[str] | None
) -> argparse.Namespace:
    parser = parser_for(module, documentation)
    parser.add_argument("--quick", action="store_true", help="do a tenth of the work in two rounds")
    parser.add_argument(
        "--rounds", type=count, help="number of rounds of each row (default 3, quick 2)"
    )
    parser.add_argument("--scale", type=amount, help="fraction of the work (default 1, quick 0.1)")
    parser.add_argument("--cold", action="store_true", help="do not warm up before a row")
    parser.add_argument(
        "--awake", action="store_true", help="keep the processors from sleeping when idle"
    )
    parser.add_argument(
        "--rows", nargs="+", help="run only the rows whose names contain one of these texts"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args(words)
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 3)
    arguments.scale = arguments.scale or (0.1 if arguments.quick else 1.0)
    arguments.rows = [row for row in rows if _is_wanted(row.name, arguments.rows)]
    if not arguments.rows:
        parser.error("no row has that in its name; there are: " + "; ".join(r.name for r in rows))
    return arguments


def _is_wanted(name: str, texts: list[str] | None) -> bool:
    return not texts or any(text in name for text in texts)


def _print_row(outcome: Outcome) -> None:
    row = outcome.row
    ratios = outcome.ratios
    goal = f">= {row.goal:.2f}" if row.goal else ""
    verdict = "" if not row.goal else ("reached" if outcome.ratio >= row.goal else "NOT reached")
    print(
        f"{row.name:<44} {outcome.ours:>12,.2f} {outcome.apache:>12,.2f} {row.unit:<8}"
        f" {outcome.ratio:>6.2f} ({min(ratios):.2f}-{max(ratios):.2f}) {goal:<8} {verdict}",
        flush=True,
    )
