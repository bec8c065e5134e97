"""Java's string hash; the values were printed by Java."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.partitioning import (
    java_hash_code,
    java_hash_order,
    java_long,
    java_string_length,
    partition_for,
)

HASHES = {
    "": 0,
    "a": 97,
    "my-group": -1906497762,
    "console-consumer-12345": 158455506,
    "polygenelubricants": -2147483648,
    "grüße": 98768023,
    "\U0001f600": 1772899,
}


@pytest.mark.parametrize("text", HASHES)
def test_hash(text: str) -> None:
    assert java_hash_code(text) == HASHES[text]


def test_partition_is_the_absolute_value_and_the_lowest_int_is_zero() -> None:
    assert partition_for("my-group", 50) == abs(HASHES["my-group"]) % 50
    assert partition_for("polygenelubricants", 50) == 0
    assert partition_for("a", 50) == 47


def test_the_order_of_a_hash_map() -> None:
    names = ["cooperative-sticky", "roundrobin", "range", "consistent", "sticky"]
    ordered = ["sticky", "range", "roundrobin", "consistent", "cooperative-sticky"]
    assert java_hash_order(names) == ordered
    # Twelve fit into sixteen buckets; with one more there are 32, and "p" (112) is in the 17th.
    assert java_hash_order([*"qp", *"bcdefghijk"][:12])[:2] == ["p", "q"]
    assert java_hash_order([*"qp", *"abcdefghijk"])[:2] == ["a", "b"]


def test_a_long_wraps() -> None:
    assert java_long(5) == 5
    assert java_long(-(1 << 63)) == -(1 << 63)
    assert java_long((1 << 63) - 1 + 5) == -(1 << 63) + 4


def test_length_counts_utf_16_units() -> None:
    assert java_string_length("aß") == 2
    assert java_string_length("a\U0001f600") == 3
