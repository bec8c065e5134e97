"""Fetch of a consumer that names its rack (KIP-392)."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.config.broker_keys_replication import LEADER_ONLY, RACK_AWARE
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_fetch import entries, fetch, only, request, values
from tests.broker.handlers.test_fetch_followers import partition_of
from tests.replication.node import batch

RACK: dict[str, Any] = {"rack_id": "near"}


def make(selector: str | None = RACK_AWARE) -> Broker:
    """Leads `t` with node 2, of the rack "near", in sync and caught up with its one record."""
    broker = Broker({"replica.selector.class": selector} if selector else None)
    broker.node_id = 1  # type: ignore[attr-defined]
    broker.register(1, "here", 1, "far")
    broker.register(2, "there", 2, "near")
    broker.node.create_topic(replicas=(1, 2))
    partition = partition_of(broker)
    broker.node.manager.append(partition, batch(b"one"), -1, broker.node.now_ms)
    broker.node.end_turn()
    for _ in range(2):
        broker.node.follower_fetch(partition, 1, broker_epoch=1)
    return broker


@pytest.mark.parametrize("version", [11, 18])
def test_it_is_sent_to_the_follower_and_gets_nothing(version: int) -> None:
    broker = make()
    asked: dict[str, Any] = {"max_wait_ms": 5000} | RACK
    entry = only(fetch(broker, request(0, **asked), version))
    assert (entry.preferred_read_replica, entry.error_code) == (2, 0)
    assert entry.high_watermark == 1
    assert not entry.records


@pytest.mark.parametrize("isolation", [0, 1])
def test_nothing_was_read_for_it_not_even_aborted_transactions(isolation: int) -> None:
    entry = only(fetch(make(), request(0, isolation_level=isolation, **RACK)))
    assert (entry.preferred_read_replica, entry.aborted_transactions) == (2, None)


def test_others_read_from_the_leader() -> None:
    broker = make()
    others: tuple[dict[str, Any], ...] = ({}, {"rack_id": "far"}, {"rack_id": "nowhere"})
    for fields in others:
        entry = only(fetch(broker, request(0, **fields)))
        assert entry.preferred_read_replica == -1
        assert values(entry) == [b"one"]
    assert values(only(fetch(broker, request(0), 10))) == [b"one"]


@pytest.mark.parametrize("selector", [None, LEADER_ONLY])
def test_without_the_selector(selector: str | None) -> None:
    entry = only(fetch(make(selector), request(0, **RACK)))
    assert (entry.preferred_read_replica, values(entry)) == (-1, [b"one"])


def test_an_incremental_session_is_told_again() -> None:
    broker = make()
    first = fetch(broker, request(0, session_epoch=0, **RACK))
    assert only(first).preferred_read_replica == 2
    session = first.answer.session_id
    message = request(0, session_epoch=1, session_id=session, **RACK)
    message.topics = []
    assert [at.preferred_read_replica for at in entries(fetch(broker, message))] == [2]
