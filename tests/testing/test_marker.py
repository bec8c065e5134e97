"""Arguments of `@pytest.mark.pykbroker`."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.testing.marker import MarkerError, options_of


def mark(*args: Any, **kwargs: Any) -> pytest.Mark:
    return pytest.Mark("pykbroker", args, kwargs, _ispytest=True)


def test_keys_and_topics() -> None:
    options = options_of([mark(num_partitions=3, overrides={"log.dirs": "x"}, topics=["a", "b"])])
    assert options.config == {"num.partitions": "3", "log.dirs": "x"}
    assert options.topics == {"a": -1, "b": -1}
    assert options_of([]) == ({}, {})
    assert options_of([mark(topics={"a": 6})]).topics == {"a": 6}
    assert options_of([mark(topics="orders")]).topics == {"orders": -1}
    assert options_of([mark(auto_create_topics_enable=False)]).config == {
        "auto.create.topics.enable": "false"
    }


def test_the_closest_marker_wins() -> None:
    closest = mark(num_partitions=3, topics={"a": 2})
    module = mark(num_partitions=9, log_retention_ms=-1, topics=["a", "b"])
    options = options_of([closest, module])
    assert options.config == {"num.partitions": "3", "log.retention.ms": "-1"}
    assert options.topics == {"a": 2, "b": -1}


@pytest.mark.parametrize(
    "given, why",
    [
        (mark(3), "only keyword arguments"),
        (mark(overrides=["a=b"]), "overrides is a dict"),
        (mark(topics=[3]), "topics is a list of names"),
        (mark(topics={"a": "3"}), "topics is a list of names"),
        (mark(topics={"a": True}), "topics is a list of names"),
        (mark(topics=3), "topics is a list of names"),
    ],
)
def test_what_makes_no_sense(given: pytest.Mark, why: str) -> None:
    with pytest.raises(MarkerError, match=why):
        options_of([given])
