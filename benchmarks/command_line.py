"""The command line of a benchmark: its docstring, as it is written, is the help."""

from __future__ import annotations

import argparse


def parser_for(module: str, documentation: str) -> argparse.ArgumentParser:
    """For `python -m MODULE`."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=documentation,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_effort(parser: argparse.ArgumentParser, rounds: int) -> None:
    """`--rounds` and `--scale`: how often, and how much of, the work of a row is done."""
    parser.add_argument(
        "--rounds", type=count, default=rounds, help="rounds of every row (default %(default)s)"
    )
    parser.add_argument(
        "--scale", type=amount, default=1.0, help="part of the work of a round: 0.01 is a look"
    )


def count(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def amount(text: str) -> float:
    """Any number above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def times(calls: int, scale: float) -> int:
    """That part of so many calls, one at least."""
    return max(1, round(calls * scale))
