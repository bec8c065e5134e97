"""The cost of the log engine over a node's life, beside Apache Kafka.

    python -m benchmarks.storage [starts] [recovery] [idle] [latency] [--without-apache]
                                 [--directory DIR] [--partitions N] [--gigabytes X]
                                 [--idle-partitions N] [--kinds KIND ...] [--scale X] [--seconds X]

Measures starts and stops, recovery after a kill (both nodes on one directory), the memory of idle
partitions (of pykbroker alone), and the latency of a steady producer while the node compacts,
deletes, reads cold files or recompresses. Run it on an idle machine; `recovery` needs twice its
gigabytes of free memory and of free disk space.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.command_line import amount, count, parser_for
from benchmarks.storage.latency import KINDS, SECONDS, Effort, latencies
from benchmarks.storage.lives import idle_memory, recovery, starts_and_stops

PARTS = ("starts", "recovery", "idle", "latency")


def main(words: Sequence[str] | None = None) -> None:
    """Run the parts that are asked for, and print their figures."""
    parser = parser_for("benchmarks.storage", __doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"parts to run: {', '.join(PARTS)} (default all)"
    )
    parser.add_argument(
        "--without-apache", action="store_true", help="measure pykbroker alone, without Java"
    )
    parser.add_argument(
        "--directory", type=Path, help="parent directory of the data (default /tmp)"
    )
    parser.add_argument(
        "--partitions",
        type=count,
        default=2000,
        help="partitions of `starts` (default %(default)s)",
    )
    parser.add_argument(
        "--gigabytes",
        type=amount,
        default=10.0,
        help="gigabytes of log of `recovery` (default %(default)g)",
    )
    parser.add_argument(
        "--idle-partitions",
        type=count,
        default=10_000,
        help="partitions of `idle` (default %(default)s)",
    )
    kinds = [kind.__name__ for kind in KINDS]
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=kinds,
        default=kinds,
        help="background work of `latency` (default all)",
    )
    parser.add_argument(
        "--scale",
        type=amount,
        default=1.0,
        help="fraction of the background work of `latency`, such as 0.01 (default 1)",
    )
    parser.add_argument(
        "--seconds",
        type=amount,
        default=SECONDS,
        help="seconds of the quiet phase of `latency` (default %(default)g)",
    )
    options = parser.parse_args(words)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    apache = not options.without_apache
    effort = Effort(options.scale, options.seconds)
    runs: dict[str, Callable[[Path], dict[str, float]]] = {
        "starts": lambda at: starts_and_stops(at, options.partitions, apache),
        "recovery": lambda at: recovery(at, options.gigabytes, apache),
        "idle": lambda at: idle_memory(at, options.idle_partitions),
        "latency": lambda at: latencies(at, options.kinds, effort, apache),
    }
    for part in options.parts or PARTS:
        at = Path(tempfile.mkdtemp(prefix="pykbroker-bench-", dir=options.directory))
        try:
            for name, figure in runs[part](at).items():
                print(f"{name:<56} {figure:12.2f}", flush=True)
        finally:
            shutil.rmtree(at, ignore_errors=True)


if __name__ == "__main__":
    main()
