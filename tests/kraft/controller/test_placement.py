"""Replicas are striped over racks and brokers."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.placement import place_replicas
from pykbroker.kraft.registration import BrokerRegistration
from pykbroker.testing.world.randomness import SeededSource


def broker(broker_id: int, rack: str | None = None, *, fenced: bool = False) -> BrokerRegistration:
    return BrokerRegistration(broker_id, 0, bytes(16), {}, {}, rack, fenced)


def test_leaders_are_spread_evenly() -> None:
    brokers = [broker(broker_id) for broker_id in range(3)]
    placed = place_replicas(brokers, 9, 3, SeededSource(random.Random(3)))
    assert Counter(replicas[0] for replicas in placed) == {0: 3, 1: 3, 2: 3}


def test_replicas_of_a_partition_are_in_different_racks() -> None:
    brokers = [broker(broker_id, f"rack{broker_id % 3}") for broker_id in range(6)]
    placed = place_replicas(brokers, 12, 3, SeededSource(random.Random(5)))
    assert len(placed) == 12
    for replicas in placed:
        assert len({broker_id % 3 for broker_id in replicas}) == 3


def test_a_fenced_broker_is_never_first() -> None:
    brokers = [broker(0), broker(1, fenced=True), broker(2)]
    placed = place_replicas(brokers, 6, 3, SeededSource(random.Random(1)))
    assert len(placed) == 6
    for replicas in placed:
        assert replicas[0] != 1
        assert sorted(replicas) == [0, 1, 2]


def test_a_broker_in_controlled_shutdown_receives_nothing() -> None:
    leaving = broker(1)._replace(in_controlled_shutdown=True)
    brokers = [broker(0), leaving, broker(2)]
    placed = place_replicas(brokers, 6, 2, SeededSource(random.Random(1)))
    assert [sorted(replicas) for replicas in placed] == [[0, 2]] * 6


def test_a_broker_that_has_stopped_is_like_any_fenced_broker() -> None:
    stopped = broker(1, fenced=True)._replace(in_controlled_shutdown=True)
    placed = place_replicas([broker(0), stopped], 3, 2, SeededSource(random.Random(1)))
    assert placed == [[0, 1]] * 3


@pytest.mark.parametrize(
    ("brokers", "factor", "message"),
    [
        ([broker(0)], 0, "must be positive"),
        ([], 1, "All brokers are currently fenced"),
        ([broker(0, fenced=True)], 1, "All brokers are currently fenced"),
        ([broker(0), broker(1)], 3, "only 2 broker(s) are registered"),
    ],
)
def test_refusals(brokers: list[BrokerRegistration], factor: int, message: str) -> None:
    with pytest.raises(KafkaError) as refused:
        place_replicas(brokers, 1, factor, SeededSource(random.Random(1)))
    assert refused.value.code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert message in str(refused.value)


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.booleans()), min_size=1, max_size=7),
    st.integers(1, 7),
    st.integers(0, 2**32),
)
def test_every_placement_is_sound(
    racks: list[tuple[str | None, bool]], factor: int, seed: int
) -> None:
    brokers = [broker(at, rack, fenced=fenced) for at, (rack, fenced) in enumerate(racks)]
    unfenced = {at.id for at in brokers if not at.fenced}
    if factor > len(brokers) or not unfenced:
        return
    placed = place_replicas(brokers, 10, factor, SeededSource(random.Random(seed)))
    assert len(placed) == 10
    for replicas in placed:
        assert len(set(replicas)) == factor
        assert replicas[0] in unfenced
