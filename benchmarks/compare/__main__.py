"""pykbroker beside Apache Kafka 4.4, driven by the same clients.

    python -m benchmarks.compare [--quick] [--rounds N] [--scale X] [--cold] [--awake]
                                 [--rows TEXT ...] [--json FILE]

Starts Apache Kafka 4.4 (its jars come from Maven) and pykbroker on this machine, drives them in
turn with the same clients, A B A B ..., and prints a row for each measurement: the medians, the
median of the rounds' ratios, and the goal of the row. A ratio above 1 is better than Apache,
whether a higher or a lower figure is better.

Absolute figures vary from hour to hour and from machine to machine; the ratio is the result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.compare.rows import ROWS
from benchmarks.compare.table import compare


def main(words: Sequence[str] | None = None) -> int:
    """Run the chosen rows and print them."""
    return compare("benchmarks.compare", __doc__, ROWS, words)


if __name__ == "__main__":
    sys.exit(main())
