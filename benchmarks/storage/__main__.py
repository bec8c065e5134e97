"""`python -m benchmarks.storage [starts] [recovery] [idle] [latency] [--directory DIR] ...`

Clean starts and stops, recovery after a kill, memory of idle partitions, and what a steady
producer feels while the node compacts, deletes, reads cold files or recompresses. Run it on an
idle machine; `recovery` wants twice its gigabytes of free memory and disk.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from benchmarks.storage.latency import KINDS, latencies
from benchmarks.storage.lives import idle_memory, recovery, starts_and_stops

PARTS = ("starts", "recovery", "idle", "latency")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storage", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default all")
    parser.add_argument("--directory", type=Path, help="where the data goes (default: /tmp)")
    parser.add_argument("--partitions", type=int, default=2000)
    parser.add_argument("--idle-partitions", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    kinds = [kind.__name__ for kind in KINDS]
    parser.add_argument("--kinds", nargs="*", choices=kinds, default=[], help="of the latencies")
    options = parser.parse_args()
    runs = {
        "starts": lambda at: starts_and_stops(at, options.partitions),
        "recovery": lambda at: recovery(at, options.gigabytes),
        "idle": lambda at: idle_memory(at, options.idle_partitions),
        "latency": lambda at: latencies(at, options.kinds),
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
