"""AlterReplicaLogDirs: which moves begin, and the error codes of the others."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.handlers.alter_replica_log_dirs import HANDLER
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode
from pykbroker.log.directories.housekeeping_driver import HousekeepingDriver
from pykbroker.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from tests.broker.handlers.data_plane import Call, PublishedImage
from tests.harness.environments import environment_at, run
from tests.replication.node import Node


def request(path: str, topic: str, *partitions: int) -> AlterReplicaLogDirsRequest:
    topics = [AlterReplicaLogDirTopic(name=topic, partitions=list(partitions))]
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=topics)])


def codes(answer: Any) -> dict[tuple[str, int], int]:
    return {
        (t.topic_name, p.partition_index): p.error_code
        for t in answer.results
        for p in t.partitions
    }


@pytest.mark.parametrize("version", [1, 2])
def test_moves(version: int) -> None:
    node = Node({"log.dirs": "/data,/more", "metadata.log.dir": "/data"})
    partition = node.create_topic(partitions=1)
    node.create_topic("far", number=9, replicas=(2,), leader=2)
    node.append(partition, b"a")
    node.append(partition, b"b")
    home = partition.log.log_directory
    away = "/more" if home == "/data" else "/data"

    async def story() -> None:
        environment = environment_at(lambda: node.now_ms)
        housekeeping = HousekeepingDriver(
            node.log_manager,
            environment,
            high_watermarks=dict,
            on_failure=node.manager.on_directory_failure,
        )
        broker = SimpleNamespace(
            node=node,
            mover=housekeeping.mover,
            metadata=PublishedImage(node),
            log_manager=node.log_manager,
            replica_manager=node.manager,
            breathe=lambda: None,
        )

        def call(message: AlterReplicaLogDirsRequest) -> dict[tuple[str, int], int]:
            return codes(Call(broker, HANDLER, message, version).answer)  # type: ignore[arg-type]

        assert call(request("/nowhere", "t", 0)) == {("t", 0): ErrorCode.LOG_DIR_NOT_FOUND}
        assert call(request(away, "t", 0, 7)) == {
            ("t", 0): 0,
            ("t", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert call(request(os.path.relpath(away), "t", 0)) == {
            ("t", 0): ErrorCode.LOG_DIR_NOT_FOUND
        }
        assert call(request(f"/.{away}", "far", 0)) == {("far", 0): ErrorCode.REPLICA_NOT_AVAILABLE}
        assert call(request(away, "far", 0)) == {("far", 0): ErrorCode.REPLICA_NOT_AVAILABLE}
        while housekeeping.mover.moving:
            await environment.scheduler.sleep(0)
        assert partition.log.log_directory == away
        assert (partition.log.log_end_offset, partition.high_watermark) == (2, 2)
        node.append(partition, b"c")
        assert partition.log.log_end_offset == 3
        node.manager.on_directory_failure(LogDirFailure(away, "reading", OSError(5, "broken")))
        assert call(request(home, "t", 0)) == {("t", 0): ErrorCode.KAFKA_STORAGE_ERROR}
        await housekeeping.stop()

    run(story)


def test_an_error_for_all() -> None:
    message = request("/x", "t", 1, 2)
    answer = HANDLER.error_reply(SimpleNamespace(message=message), 31, None)  # type: ignore[arg-type]
    assert codes(answer) == {("t", 1): 31, ("t", 2): 31}
