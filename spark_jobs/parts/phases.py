"""The phases of throughput, each in the executors: what one task does, and one row of it.

produce   one producer writes a Load
consume   one consumer reads a Reading
scan      record batches of the segments go by
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.parts import latencies
from spark_jobs.parts.clients import Outgoing, sender
from spark_jobs.parts.consumers import read_to_end
from spark_jobs.parts.latencies import Latencies

_SCHEMA: Final = pa.schema(
    [
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("errors", pa.int64()),
        ("first_error", pa.string()),
        ("began", pa.float64()),
        ("ended", pa.float64()),
        ("latencies", latencies.TYPE),
    ]
)
DDL: Final = (
    "records bigint, bytes bigint, errors bigint, first_error string, began double, ended double, "
    f"latencies {latencies.DDL}"
)
_PAYLOADS: Final = 64


class Load(NamedTuple):
    """What one producer writes."""

    task: int
    records: int
    size: int
    topic: str
    bootstrap: str
    settings: dict[str, str]
    client: str


class Reading(NamedTuple):
    """What one consumer reads."""

    ends: dict[int, tuple[int, int]]
    topic: str
    bootstrap: str
    settings: dict[str, str]
    client: str


def produce(load: Load) -> Iterator[Any]:
    """In an executor: write records."""
    chance = np.random.default_rng(load.task)
    # Text-like: a codec finds something, and not everything.
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz012345", np.uint8)
    payloads = [letters[chance.integers(0, 32, load.size)].tobytes() for _ in range(_PAYLOADS)]
    client = sender(load.bootstrap, load.settings, load.client)
    began = time.time()
    for number in range(load.records):
        client.send(Outgoing(load.topic, -1, None, payloads[number % _PAYLOADS]))
    client.flush()
    found = _row(client.acknowledged, client.acknowledged_bytes, began, client.latencies)
    found |= {"errors": client.errors, "first_error": client.first_error}
    yield pa.RecordBatch.from_pylist([found], schema=_SCHEMA)


def consume(reading: Reading) -> Iterator[Any]:
    """In an executor: read all records."""
    calls = read_to_end(
        reading.bootstrap, reading.topic, reading.ends, reading.settings, reading.client
    )
    yield _timed((each.records, each.bytes) for each in calls)


def scan(batches: Iterator[Any]) -> Iterator[Any]:
    """In an executor: read keys and values as Arrow."""
    yield _timed((batch.num_rows, _bytes_of(batch)) for batch in batches)


def _bytes_of(batch: Any) -> int:
    lengths = (pc.sum(pc.binary_length(batch.column(name))).as_py() for name in ("key", "value"))
    return sum(length or 0 for length in lengths)


def _timed(pieces: Iterator[tuple[int, int]]) -> Any:
    calls = Latencies()
    records = size = 0
    began = time.time()
    before = time.perf_counter()
    for count, length in pieces:
        now = time.perf_counter()
        calls.add((now - before) * 1000)
        before = now
        records += count
        size += length
    found = _row(records, size, began, calls)
    return pa.RecordBatch.from_pylist([found], schema=_SCHEMA)


def _row(records: int, size: int, began: float, taken: Latencies) -> dict[str, Any]:
    return {
        "records": records,
        "bytes": size,
        "errors": 0,
        "began": began,
        "ended": time.time(),
        "latencies": taken.pairs,
    }
