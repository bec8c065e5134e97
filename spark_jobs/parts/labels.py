"""Labels of the terminal: words and units for a key of `summary.json` or a column of a table.

On the terminal a value has its unit (`1 s`, `30.00%`, `2013-01-01 10:00:00.000`), or the label has
it (`bytes`, `MB per second`); points in time are in UTC.
"""

from __future__ import annotations

from typing import Final

#: Names whose own words say too little.
_WHOLE: Final = {
    "ack_max_ms": "max time to acknowledgement",
    "ack_ms": "time to acknowledgement",
    "ack_p50_ms": "p50 time to acknowledgement",
    "ack_p99_ms": "p99 time to acknowledgement",
    "began": "began (UTC)",
    "ended": "ended (UTC)",
    "every_ms": "width of a bucket",
    "is_equal": "copies are equal",
    "is_limited": "stopped at --limit",
    "is_prefix": "one copy is a prefix of the other",
    "lag": "lag in records",
    "largest_lag_records": "largest lag of a partition in records",
    "late_max_ms": "max lateness",
    "late_ms": "lateness",
    "late_p50_ms": "p50 lateness",
    "late_p99_ms": "p99 lateness",
    "ratio": "compression ratio",
    "total_lag_records": "total lag in records",
    # Without a unit these are sizes.
    **{name: f"{name} bytes" for name in ("min", "p1", "p50", "p90", "p99", "p999", "max", "mean")},
}
_OLDEST: Final = "oldest_open_"
_WORDS: Final = {"mb": "MB", "timestampType": "timestamp type"}
#: A name in `_ms` whose last word is one of these is a point in time; others are durations.
_TIMES: Final = frozenset({"at", "bucket", "timestamp"})


def label(name: str) -> str:
    """Return the words for a name: `peak records per second`, `bucket (UTC)`, `saved`, `sound`."""
    if name in _WHOLE:
        return _WHOLE[name]
    if name.startswith(_OLDEST):
        return f"oldest open transaction's {label(name.removeprefix(_OLDEST))}"
    bare = name.removeprefix("is_").removesuffix("_ms").removesuffix("_share")
    words = [_WORDS.get(word, word) for word in bare.split("_")]
    if name.endswith("_ms") and words[-1] in _TIMES:
        words.append("(UTC)")
    return " ".join(words)
