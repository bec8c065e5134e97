"""Which partition of `__consumer_offsets` owns a group: Java's `String.hashCode`, `Utils.abs`."""

from __future__ import annotations

from functools import lru_cache


def java_hash_code(text: str) -> int:
    """Java's `String.hashCode`: over UTF-16 code units, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def java_string_length(text: str) -> int:
    """Java's `String.length`: UTF-16 code units."""
    return len(text) + sum(char > "\uffff" for char in text)


@lru_cache(maxsize=8192)
def partition_for(group_id: str, num_partitions: int) -> int:
    """The partition that coordinates `group_id`.

    Kafka's `Utils.abs` maps the lowest int to 0 instead of masking the sign bit.
    """
    value = java_hash_code(group_id)
    return 0 if value == -(1 << 31) else abs(value) % num_partitions
