"""Clusters of three: pykbroker beside Apache Kafka 4.4.

    python -m benchmarks.cluster [--quick] [--rounds N] [--scale X] [--cold] [--awake]
                                 [--rows TEXT ...] [--json FILE]

Works as benchmarks.compare does: the clusters take turns, A B A B ..., and each measurement is a
row. In both, all nodes are brokers and voters, min.insync.replicas is 2, broker sessions last 3 s,
and fetches of voters time out after 2 s. Topics have three replicas, those by which CreateTopics is
timed two. "Controller failover" lasts from the kill (-9) of the active controller until a
CreateTopics succeeds, "failover of 100 partitions" from the kill of their leader until a record is
acknowledged in each of them; the killed node is restarted after the measurement.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.cluster.clusters import both_clusters
from benchmarks.cluster.rows import ROWS
from benchmarks.compare.table import compare


def main(words: Sequence[str] | None = None) -> int:
    """Run the chosen rows and print them."""
    return compare("benchmarks.cluster", __doc__, ROWS, words, both_clusters)


if __name__ == "__main__":
    sys.exit(main())
