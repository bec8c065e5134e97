"""A node that starts while one of its two log directories is offline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykbroker.broker.server import BrokerServer
from pykbroker.errors import ErrorCode
from pykbroker.kraft.broker_lifecycle_driver import BrokerLifecycleDriver
from pykbroker.kraft.partition_image import LOST_DIRECTORY, UNASSIGNED_DIRECTORY
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.broker.test_server import call, make_config, run
from tests.replication.node import batch


async def create(server: BrokerServer) -> None:
    """A topic with a partition in each directory, and a record in each partition."""
    topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
    reply = await call(server.listeners[0].port, 19, 7, request)
    assert reply.topics[0].error_code == 0
    assert [each.error_code for each in await produce(server)] == [0, 0]


async def create_and_assign(server: BrokerServer) -> None:
    """The same, and the controller knows where each partition is."""
    await create(server)
    await until(lambda: UNASSIGNED_DIRECTORY not in directories(server), "the directories")


def directories(server: BrokerServer) -> list[bytes]:
    """Of the partitions of the topic, as the metadata has them."""
    partitions = server.image.topics_by_name["t"].partitions
    return [partition.directories[0] for partition in partitions.values()]


async def until(condition: Callable[[], object], what: str) -> None:
    deadline = _loop_time() + 120
    while not condition():
        assert _loop_time() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.02)


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


def is_led(server: BrokerServer) -> bool:
    """Does every partition of the topic have a leader?"""
    partitions = server.image.topics_by_name["t"].partitions
    return all(partition.leader == 1 for partition in partitions.values())


async def produce(server: BrokerServer) -> Any:
    parts = [PartitionProduceData(index=index, records=batch(b"a")) for index in range(2)]
    message = ProduceRequest(
        acks=1, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=parts)]
    )
    reply = await call(server.listeners[0].port, 0, 9, message)
    return reply.responses[0].partition_responses


async def described(server: BrokerServer) -> list[tuple[int, int, list[int], list[int]]]:
    """Error, leader, in-sync and offline replicas by partition, as Metadata answers."""
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    (topic,) = (await call(server.listeners[0].port, 3, 9, asked)).topics
    return [
        (at.error_code, at.leader_id, at.isr_nodes, at.offline_replicas)
        for at in sorted(topic.partitions, key=lambda at: at.partition_index)
    ]


Seen = tuple[int, int, list[int], list[int]]
ONLINE: Seen = (0, 1, [1], [])
OFFLINE: Seen = (int(ErrorCode.LEADER_NOT_AVAILABLE), -1, [], [1])


async def look(server: BrokerServer) -> None:
    """The partition in the directory that is offline has no leader; the other one is served."""
    good, bad = server.log_manager.directories
    assert (good.is_online, bad.is_online) == (True, False)
    lost = [index for index, at in enumerate(await described(server)) if at == OFFLINE]
    assert len(lost) == 1
    codes = [each.error_code for each in await produce(server)]
    assert codes[lost[0]] == ErrorCode.KAFKA_STORAGE_ERROR
    assert codes[1 - lost[0]] == 0
    assert (await described(server))[1 - lost[0]] == ONLINE


async def back(server: BrokerServer) -> None:
    """Both are led again, and nothing was lost."""
    ends = [log.log_end_offset for log in server.log_manager.logs()]
    assert sorted(ends) == [1, 2]
    await until(lambda: is_led(server), "the leaders")
    assert await described(server) == [ONLINE, ONLINE]
    assert [each.error_code for each in await produce(server)] == [0, 0]


def unreadable(directory: Path) -> Callable[[], None]:
    """read(2) of meta.properties fails, as on a broken disk."""
    meta, kept = directory / "meta.properties", directory.parent / "kept"
    meta.rename(kept)
    meta.mkdir()

    def restore() -> None:
        meta.rmdir()
        kept.rename(meta)

    return restore


def file_in_its_place(directory: Path) -> Callable[[], None]:
    kept = directory.parent / "kept"
    directory.rename(kept)
    directory.write_text("not a directory")

    def restore() -> None:
        directory.unlink()
        kept.rename(directory)

    return restore


def cannot_be_locked(directory: Path) -> Callable[[], None]:
    """Everything can be read and nothing written, as on a read-only file system."""
    lock = directory / ".lock"
    lock.unlink()
    lock.mkdir()
    return lock.rmdir


BREAKS = [unreadable, file_in_its_place, cannot_be_locked]


@pytest.mark.parametrize("damage", BREAKS)
def test_its_partitions_have_no_leader_until_it_is_back(
    tmp_path: Path, damage: Callable[[Path], Callable[[], None]]
) -> None:
    config = make_config(tmp_path, log_dirs=f"{tmp_path}/a,{tmp_path}/b")
    run(config, create_and_assign)
    restore = damage(tmp_path / "b")
    run(config, look)
    restore()
    run(config, back)


def test_a_partition_of_which_the_controller_never_learned_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def create_unassigned(server: BrokerServer) -> None:
        await create(server)
        assert directories(server) == [UNASSIGNED_DIRECTORY] * 2

    async def look_when_told(server: BrokerServer) -> None:
        await until(lambda: LOST_DIRECTORY in directories(server), "the lost one")
        await look(server)

    config = make_config(tmp_path, log_dirs=f"{tmp_path}/a,{tmp_path}/b")
    with monkeypatch.context() as patch:
        patch.setattr(BrokerLifecycleDriver, "_send_placed", lambda self: None)
        run(config, create_unassigned)
    restore = file_in_its_place(tmp_path / "b")
    run(config, look_when_told)
    restore()
    run(config, back)


def test_partitions_that_an_operator_moved_out_of_it_are_led(tmp_path: Path) -> None:
    config = make_config(tmp_path, log_dirs=f"{tmp_path}/a,{tmp_path}/b")
    run(config, create_and_assign)
    (moved,) = (tmp_path / "b").glob("t-*")
    moved.rename(tmp_path / "a" / moved.name)
    restore = file_in_its_place(tmp_path / "b")

    async def look_moved(server: BrokerServer) -> None:
        partitions = server.image.topics_by_name["t"].partitions
        await until(
            lambda: all(
                at.leader == 1 for at in server.image.topics_by_name["t"].partitions.values()
            ),
            "leaders",
        )
        assert len(partitions) == 2
        assert [each.error_code for each in await produce(server)] == [0, 0]
        assert len(set(directories(server))) == 1

    run(config, look_moved)
    restore()
