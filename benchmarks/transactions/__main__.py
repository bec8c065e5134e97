"""Transactions of pykbroker beside Apache Kafka 4.4.

    python -m benchmarks.transactions [--quick] [--rounds N] [--scale X] [--cold] [--awake]
                                      [--rows TEXT ...] [--json FILE]

Works as benchmarks.compare does: the servers take turns, A B A B ..., and each measurement is a
row. "commit" and "transaction" are of transactions of librdkafka with 10 records in 3 partitions,
the commit alone, after a flush, and the whole transaction from its begin. "transactional produce"
has 2,000 records in each. The thousand transactional ids have open transactions at the same time,
over 50 connections of a raw client: in each round they all produce, and then they all commit.
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
