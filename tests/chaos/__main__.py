"""Run a cluster of three nodes under faults, for as long as you like, and print a verdict.

    python -m tests.chaos records [--minutes N] [--seed S] [--directory D]
    python -m tests.chaos topics  [--minutes N] [--seed S] [--directory D]

`records` runs idempotent producers and a group of consumers; `topics` runs clients that create,
alter and delete topics. All connections of the three nodes pass through a proxy. Each fault is
printed as it is injected, and each violated promise at the end; the exit code is 1 if there was
one. Use --weak to check the checker: its producers may lose records, which the verdict must report.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos import records, topics


def main() -> int:
    """Run the requested test; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("records", "topics"), help="what the clients do")
    parser.add_argument(
        "--minutes", type=float, default=1.0, help="duration of the run (default %(default)g)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=random.randrange(1_000_000),
        help="seed of the faults (default: random; the run prints it)",
    )
    parser.add_argument(
        "--directory", type=Path, help="keep the nodes' files and logs in this directory"
    )
    parser.add_argument(
        "--weak", action="store_true", help="records: produce with acks=1, without idempotence"
    )
    arguments = parser.parse_args()
    print(f"{arguments.what}: {arguments.minutes} minutes, seed {arguments.seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pykbroker-chaos-") as temporary:
        directory = arguments.directory or Path(temporary) / "nodes"
        seconds = arguments.minutes * 60
        if arguments.what == "records":
            faults = records.run(seconds, arguments.seed, directory, _say, is_weak=arguments.weak)
        else:
            faults = topics.run(seconds, arguments.seed, directory, _say)
    for fault in faults:
        print("VIOLATION:", fault)
    verdict = f"{len(faults)} violations" if faults else "no violations"
    print(f"verdict after {time.monotonic() - started:.0f} s, seed {arguments.seed}: {verdict}")
    return 1 if faults else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
