"""`python -m benchmarks.compare [--quick] [--rounds N] [--rows TEXT] [--json FILE]`.

Starts Apache Kafka 4.4 (its jars by Maven) and pykbroker on this machine, drives both in turn with
the same stock clients, A B A B ..., and prints a row per measurement: the medians, their ratio
(above 1 is better than Apache, whichever way the figure counts) and the goal of the row.

Absolute figures wander from hour to hour and from machine to machine; the ratio is the result.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.compare.measure import Outcome, measure
from benchmarks.compare.rows import ROWS
from benchmarks.compare.servers import both_servers


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, two rounds")
    parser.add_argument("--rounds", type=int, help="rounds of every row (default 3, quick 2)")
    parser.add_argument("--rows", help="only the rows whose name contains this text")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    return parser.parse_args()


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


def main() -> int:
    """Run the chosen rows; exit code 1 when one of them reports a failure of a client."""
    arguments = _arguments()
    scale = 0.1 if arguments.quick else 1.0
    rounds = arguments.rounds or (2 if arguments.quick else 3)
    rows = [row for row in ROWS if not arguments.rows or arguments.rows in row.name]
    print(f"{'':<44} {'pykbroker':>12} {'Apache 4.4':>12} {'':<8} {'ratio':>6} (min-max) goal")
    outcomes = []
    with both_servers() as servers:
        for row in rows:
            outcome = measure(row, servers, rounds, scale)
            outcomes.append(outcome)
            _print_row(outcome)
    if arguments.json:
        arguments.json.write_text(json.dumps([each.as_json() for each in outcomes], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
