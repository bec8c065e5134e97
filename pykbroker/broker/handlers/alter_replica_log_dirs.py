"""AlterReplicaLogDirs (34): move replicas of this broker to other log directories (KIP-113).

Behaviour: an answer per partition, at once; the copying goes on behind it and shows in
DescribeLogDirs as a future replica with its lag, until that takes the place of the old one. The
directory where the replica is already, or is on its way to, is fine and changes nothing (the first
one ends a move that is going on). LOG_DIR_NOT_FOUND: no log directory of this broker by that
absolute path. KAFKA_STORAGE_ERROR: it, or any other directory, is offline. REPLICA_NOT_AVAILABLE:
no replica of the partition is here; where it will be made is not remembered. There is no such
partition: UNKNOWN_TOPIC_OR_PARTITION.
Versions: 1-2.
Not done: throttling (`replica.alter.log.dirs.io.max.bytes.per.second`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.directories.directory_report import absolute_path
from pykbroker.protocol.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.alter_replica_log_dirs_request import (
        AlterReplicaLogDirsRequest,
    )

API_KEY = 34


def handle(services: BrokerServices, request: Request) -> AlterReplicaLogDirsResponse:
    """Begin every move that can be begun."""
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for topic, index, path in _asked(request.message, services.breathe):
        results.setdefault(topic, []).append(
            AlterReplicaLogDirPartitionResult(
                partition_index=index, error_code=_move(services, topic, index, path)
            )
        )
    return _response(results, services.breathe)


def _asked(
    message: AlterReplicaLogDirsRequest, breathe: Breathe = go_on
) -> Iterator[tuple[str, int, str]]:
    for directory in paced(message.dirs, breathe):
        for topic in paced(directory.topics, breathe):
            for index in paced(topic.partitions, breathe):
                yield topic.name, index, directory.path


def _move(services: BrokerServices, topic: str, index: int, path: str) -> int:
    for directory in services.log_manager.directories:  # by the name that DescribeLogDirs gives
        if os.path.isabs(path) and absolute_path(path) == absolute_path(directory.path):
            path = directory.path
            break
    try:
        services.mover.move(TopicPartition(topic, index), path)
    except KafkaError as refused:
        gone = services.metadata.image.partition(topic, index) is None
        if gone and refused.code == ErrorCode.REPLICA_NOT_AVAILABLE:
            return int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return refused.code
    return 0


def _response(
    results: dict[str, list[AlterReplicaLogDirPartitionResult]], breathe: Breathe = go_on
) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=topic, partitions=partitions)
            for topic, partitions in paced(results.items(), breathe)
        ]
    )


def error_reply(
    request: Request, code: int, message: str | None = None
) -> AlterReplicaLogDirsResponse:
    """The same error for every partition."""
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for topic, index, _ in _asked(request.message):
        results.setdefault(topic, []).append(
            AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
        )
    return _response(results)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=2, error_reply=error_reply
)
