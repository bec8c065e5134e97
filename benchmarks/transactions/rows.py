"""The rows of the table: what is measured, and the goals."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

from benchmarks.command_line import times
from benchmarks.compare.measure import Row
from benchmarks.compare.servers import Server

PARTITIONS = 3


def _figures(verb: str, server: Server, *numbers: int) -> dict[str, float]:
    topic = server.new_topic(PARTITIONS)
    module = "benchmarks.transactions.client"
    command = [sys.executable, "-m", module, verb, server.address, topic, *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    server.delete_topic(topic)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _latency(figure: str, server: Server, scale: float) -> float:
    return _figures("latency", server, times(2000, scale))[figure]


def _produce(server: Server, scale: float) -> float:
    return _figures("produce", server, 1024, times(100, scale))["records_per_second"]


def _many(ids: int, server: Server, scale: float) -> float:
    return _figures("many", server, times(ids, min(1.0, scale * 10)), times(5, scale))["per_second"]


ROWS = (
    Row("commit, p50", "ms", partial(_latency, "commit_p50_ms"), 1.0, True),
    Row("commit, p99", "ms", partial(_latency, "commit_p99_ms"), 1.0, True),
    Row("transaction, p50", "ms", partial(_latency, "p50_ms"), 1.0, True),
    Row("transaction, p99", "ms", partial(_latency, "p99_ms"), 1.0, True),
    Row("transactional produce, 1 KiB", "rec/s", _produce, 1.0),
    Row("1,000 transactional ids", "txn/s", partial(_many, 1000), 1.0),
)
