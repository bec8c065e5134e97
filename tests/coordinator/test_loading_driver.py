"""Loading partitions one after another; the runtime's own tests load machines as well."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pykbroker.coordinator import loading_driver
from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.coordinator.hosted_shard import HostedShard, HostState
from pykbroker.coordinator.loading_driver import LoadingDriver
from pykbroker.coordinator.record_codecs import GROUP_RECORD_TYPES, RecordCodec
from pykbroker.errors import ErrorCode, KafkaError
from tests.coordinator.group_world import GroupWorld
from tests.coordinator.memory_log import MemoryLog, VirtualLoop

SETTINGS = GroupSettings(num_partitions=1)


class Loads:
    """A loading driver over the log of partition 0, which holds 20 commits."""

    def __init__(self) -> None:
        world = GroupWorld()
        world.elect()
        for number in range(20):
            world.commit(offsets=f"t-{number}:1")
        self.log: MemoryLog = world.log
        self.loop = VirtualLoop()
        self.loaded: list[int] = []
        self.hosted = HostedShard(0, 0)
        self.is_hosted = True
        self.driver = LoadingDriver(
            log=self.log,
            codec=RecordCodec(GROUP_RECORD_TYPES),
            make_shard=lambda: GroupShard(SETTINGS),
            scheduler=self.loop,
            clock=self.loop,
            chunk_bytes=100,
            is_hosted=lambda hosted: self.is_hosted,
            on_loaded=lambda hosted: self.loaded.append(hosted.partition),
        )


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Loads:
    monkeypatch.setattr(loading_driver, "SLICE_MS", 0)
    return Loads()


def run_one(loop: VirtualLoop) -> None:
    loop._calls.pop(0).callback()


def test_it_loads_in_several_turns(loads: Loads) -> None:
    loads.driver.start(loads.hosted)
    run_one(loads.loop)
    shard: Any = loads.hosted.shard
    assert 0 < len(shard.offsets.committed["g"]["t"]) < 20
    assert (loads.hosted.state, loads.loaded) == (HostState.LOADING, [])
    loads.loop.advance(0)
    assert (loads.hosted.state, loads.loaded) == (HostState.ACTIVE, [0])
    assert len(shard.offsets.committed["g"]["t"]) == 20
    assert loads.hosted.next_offset == loads.hosted.committed == loads.log.bounds(0).end
    assert loads.log.wakes > 0


def test_a_partition_that_starts_again_is_loaded_once_from_the_start(loads: Loads) -> None:
    loads.driver.start(loads.hosted)
    run_one(loads.loop)
    before = loads.hosted.shard
    loads.hosted.clear()
    loads.driver.start(loads.hosted)
    loads.loop.advance(0)
    assert loads.loaded == [0]
    assert loads.hosted.shard is not before
    assert len(loads.hosted.shard.offsets.committed["g"]["t"]) == 20


def test_a_partition_that_is_resigned_is_passed_over(loads: Loads) -> None:
    loads.driver.start(loads.hosted)
    run_one(loads.loop)
    loads.is_hosted = False
    loads.loop.advance(0)
    assert loads.loaded == []


def test_a_bug_stops_that_partition(loads: Loads, caplog: pytest.LogCaptureFixture) -> None:
    loads.driver.start(loads.hosted)
    loads.log.partitions[0].batches[3] = b"?" * 70
    loads.loop.advance(0)
    assert loads.hosted.state is HostState.FAILED
    assert "__consumer_offsets-0 cannot be loaded" in caplog.text
    assert loads.loaded == []


def test_a_partition_that_another_broker_leads_by_now_is_no_error(
    loads: Loads, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(partition: int) -> None:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    monkeypatch.setattr(loads.log, "bounds", moved)
    loads.driver.start(loads.hosted)
    assert loads.hosted.state is HostState.FAILED
    assert not [record for record in caplog.records if record.levelno > logging.INFO]
