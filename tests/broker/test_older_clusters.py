"""A node on directories that were formatted for an older release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pykbroker.broker.server import BrokerServer
from pykbroker.config import BrokerConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.errors import StartError
from pykbroker.kraft.raft.initial_voters import default_voters
from pykbroker.kraft.storage_format import format_storage
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from pykbroker.types import TopicPartition
from tests.broker.test_offline_directories import until
from tests.broker.test_server import call, make_config, run
from tests.replication.node import batch


def format_for(config: BrokerConfig, level: int) -> None:
    ids = iter(range(1, 10))

    def new_uuid() -> bytes:
        return b"\x01" + next(ids).to_bytes(15, "big")

    outcome = format_storage(
        RealFiles(),
        config,
        "e62swP6mSqqOBMmGnL4lng",
        now_ms=1000,
        new_uuid=new_uuid,
        voters=default_voters(config, new_uuid),
        features={"metadata.version": level, "kraft.version": 1},
    )
    assert (outcome.unreadable, outcome.failed) == ([], {})


async def produce(server: BrokerServer) -> Any:
    part = PartitionProduceData(index=0, records=batch(b"a"))
    message = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=[part])]
    )
    reply = await call(server.listeners[0].port, 0, 9, message)
    (answer,) = reply.responses[0].partition_responses
    assert answer.error_code == 0
    return answer.base_offset


@pytest.mark.parametrize("level", [7, 8, 12, 14, 16, 17, 21, 25, 30])
def test_records_are_kept_over_a_restart(tmp_path: Path, level: int) -> None:
    async def begin(server: BrokerServer) -> None:
        await create(server, "t")
        assert await produce(server) == 0

    async def go_on(server: BrokerServer) -> None:
        assert server.services.features().finalized["metadata.version"] == level
        assert await produce(server) == 1
        log = server.log_manager.get(TopicPartition("t", 0))
        assert log is not None
        assert log.log_start_offset == 0

    config = make_config(tmp_path / "d")
    format_for(config, level)
    run(config, begin)
    run(config, go_on)


async def create(server: BrokerServer, name: str) -> None:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
    reply = await call(server.listeners[0].port, 19, 7, request)
    assert reply.topics[0].error_code == 0


@pytest.mark.parametrize("level", [7, 16, 21])
def test_an_upgrade_without_a_restart(tmp_path: Path, level: int) -> None:
    """From KIP-858 on the broker has to tell its log directories: it registers once more."""

    async def upgrade(server: BrokerServer) -> None:
        await create(server, "t")
        assert await produce(server) == 0
        update = FeatureUpdateKey(feature="metadata.version", max_version_level=33, upgrade_type=1)
        request = UpdateFeaturesRequest(feature_updates=[update])
        epoch = server.kraft.broker_epoch
        reply = await call(server.listeners[0].port, 57, 1, request)
        assert reply.error_code == 0
        await until(lambda: server.image.brokers[1].directories, "the directories")
        broker = server.image.brokers[1]
        assert (broker.fenced, broker.epoch, server.kraft.broker_epoch) == (False, epoch, epoch)
        assert await produce(server) == 1
        await create(server, "later")
        partition = server.image.topics_by_name["later"].partitions[0]
        assert partition.directories == broker.directories

    async def go_on(server: BrokerServer) -> None:
        assert await produce(server) == 2
        directories = server.image.brokers[1].directories
        await until(
            lambda: server.image.topics_by_name["t"].partitions[0].directories == directories,
            "the directory of the old partition",
        )
        assert server.image.topics_by_name["t"].partitions[0].leader == 1

    config = make_config(tmp_path / "d")
    format_for(config, level)
    run(config, upgrade)
    run(config, go_on)


@pytest.mark.parametrize("level", [7, 16, 17])
def test_several_directories_need_a_release_that_assigns_them(tmp_path: Path, level: int) -> None:
    async def serves(server: BrokerServer) -> None:
        assert len(server.image.brokers[1].directories) == 2

    config = make_config(tmp_path, log_dirs=f"{tmp_path}/a,{tmp_path}/b")
    format_for(config, level)
    if level >= 17:
        run(config, serves)
        return
    with pytest.raises(StartError, match=r"^Multiple log directories .* Need 3\.7-IV2 or higher"):
        run(config, serves)
