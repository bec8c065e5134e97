"""The command line of a benchmark: its docstring, unchanged, is the help."""

from __future__ import annotations

import argparse


def parser_for(module: str, documentation: str) -> argparse.ArgumentParser:
    """Return a parser for `python -m MODULE`."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=documentation,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_effort(parser: argparse.ArgumentParser, rounds: int) -> None:
    """Add `--rounds` and `--scale`: how often, and how much of, a row's work is done."""
    parser.add_argument(
        "--rounds",
        type=count,
        default=rounds,
        help="number of rounds of each row (default %(default)s)",
    )
    parser.add_argument(
        "--scale",
        type=amount,
        default=1.0,
        help="fraction of the work of a round, such as 0.01 (default 1)",
    )


def count(text: str) -> int:
    """Parse a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def amount(text: str) -> float:
    """Parse a number above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def times(calls: int, scale: float) -> int:
    """Return this fraction of a number of calls, at least one."""
    return max(1, round(calls * scale))
