"""Topic names: which are valid, with Kafka's messages."""

from __future__ import annotations

import pytest

from pykbroker.kraft.topic_name import is_internal, normalized, topic_name_fault


@pytest.mark.parametrize("name", ["a", "A-1_b.c", "x" * 249, "...", "__consumer_offsets"])
def test_names(name: str) -> None:
    assert topic_name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, "is longer than the max allowed length 249"),
        ("a/b", "other than ASCII alphanumerics"),
        ("a\n", "other than ASCII alphanumerics"),
        ("é", "other than ASCII alphanumerics"),
    ],
)
def test_no_names(name: str, reason: str) -> None:
    fault = topic_name_fault(name)
    assert fault is not None
    assert fault.startswith("Topic name is invalid: ")
    assert reason in fault


def test_internal_topics_and_collisions() -> None:
    assert is_internal("__consumer_offsets")
    assert not is_internal("__other")
    assert normalized("a.b_c") == normalized("a_b.c")
