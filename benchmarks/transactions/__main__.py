"""Transactions of pykbroker beside Apache Kafka 4.4.

    python -m benchmarks.transactions [--quick] [--rounds N] [--scale X] [--cold]
                                      [--rows TEXT ...] [--json FILE]

As benchmarks.compare: both servers in turn, A B A B ..., and a row per measurement. Transactions
of librdkafka have 10 records over 3 partitions; "commit" is the commit alone, behind a flush, and
"transaction" all from its begin on. The thousand transactional ids are open at the same time, over
50 connections of a raw client: each round they all produce, and then they all commit.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.compare.table import compare
from benchmarks.transactions.rows import ROWS


def main(words: Sequence[str] | None = None) -> int:
    """Run the chosen rows and print them."""
    return compare("benchmarks.transactions", __doc__, ROWS, words)


if __name__ == "__main__":
    sys.exit(main())
