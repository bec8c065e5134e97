"""Parts of Java that clients or logs can see: hashes of texts and the order that follows from them,
the length of a text, 64-bit sums that wrap.

The hash of its id determines which partition coordinates a group or a transactional id.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache


def java_hash_code(text: str) -> int:
    """Java's `String.hashCode`: over UTF-16 code units, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def java_hash_order(keys: Collection[str]) -> list[str]:
    """Return `keys` in the iteration order of a `HashMap` into which they were put in this order.

    The order is by bucket, then by insertion; the table doubles when it is more than three quarters
    full. (What Java does with more than eight keys in one bucket is not modelled.)
    """
    buckets = 16
    while len(keys) > buckets * 3 // 4:
        buckets *= 2

    def bucket(key: str) -> int:
        value = java_hash_code(key) & 0xFFFFFFFF
        return (value ^ value >> 16) & buckets - 1

    return sorted(keys, key=bucket)


def java_long(value: int) -> int:
    """Return `value` truncated to a Java `long`."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def java_string_length(text: str) -> int:
    """Java's `String.length`: UTF-16 code units."""
    return len(text) + sum(char > "\uffff" for char in text)


@lru_cache(maxsize=8192)
def partition_for(key: str, num_partitions: int) -> int:
    """Return the partition that coordinates a group or a transactional id.

    Kafka's `Utils.abs` maps the lowest int to 0 instead of masking the sign bit.
    """
    value = java_hash_code(key)
    return 0 if value == -(1 << 31) else abs(value) % num_partitions
