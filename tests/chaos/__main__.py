"""Faults for as long as you like, and a verdict.

    python -m tests.chaos records [--minutes N] [--seed S] [--directory D]
    python -m tests.chaos topics  [--minutes N] [--seed S] [--directory D]

`records`: idempotent producers and a group of consumers. `topics`: clients that create, alter and
delete topics. Three nodes of ours, all links over a proxy. Prints every fault as it comes, and what
was wrong in the end; exit code 1 when anything was. The files and the nodes' logs are kept in
DIRECTORY, if one is given. `--weak` has producers that may lose records: the verdict must say so.
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
    """Run one of them."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("records", "topics"))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--weak", action="store_true", help="records: acks=1, not idempotent")
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
        print("WRONG:", fault)
    verdict = f"{len(faults)} things are wrong" if faults else "nothing is wrong"
    print(f"verdict after {time.monotonic() - started:.0f} s, seed {arguments.seed}: {verdict}")
    return 1 if faults else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
