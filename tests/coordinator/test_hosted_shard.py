"""Requests that wait at a partition: every one is answered."""

from __future__ import annotations

from pykbroker.coordinator.hosted_shard import HostedShard, HostState, Waiting
from pykbroker.deferred import Deferred
from pykbroker.timing_wheel import TimingWheel


def waiting() -> Waiting:
    return Waiting(Deferred(), "request", "context", lambda *arguments: arguments)


def test_a_refusal_is_made_from_the_request() -> None:
    one = waiting()
    one.fail(16)
    assert one.deferred.value == ("request", "context", 16)


def test_clear_returns_everybody_and_stops_all_timers() -> None:
    wheel: TimingWheel[str] = TimingWheel(0)
    hosted = HostedShard(3, 5)
    assert hosted.state is HostState.LOADING
    first, second = waiting(), waiting()
    hosted.parked.park(1, (first, "reply"), 10)
    hosted.waiting[7] = second
    hosted.timers["key"] = wheel.add(5, "timer")
    hosted.commit_timer = wheel.add(6, "commit")
    hosted.shard = object()
    assert hosted.clear() == [first, second]
    assert [hosted.shard, hosted.commit_timer] == [None, None]
    assert not hosted.parked
    assert not hosted.waiting
    assert wheel.advance(100) == []
    assert hosted.clear() == []
