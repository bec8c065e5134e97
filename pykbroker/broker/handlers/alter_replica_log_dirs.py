"""AlterReplicaLogDirs (34): move replicas of this broker to other log directories (KIP-113).

Behaviour: each partition is answered immediately; the copy runs in the background and appears in
DescribeLogDirs as a future replica with its lag, until it replaces the old one. The replica's
current directory, and the target of a move in progress, are accepted and change nothing (the
current directory ends a move in progress). LOG_DIR_NOT_FOUND: this broker has no log directory with
that path. KAFKA_STORAGE_ERROR: it or the replica's directory is offline, or any other when a move
would begin. REPLICA_NOT_AVAILABLE: this broker has no replica of the partition; the directory is
not remembered for later. UNKNOWN_TOPIC_OR_PARTITION: there is no such partition.
INVALID_TOPIC_EXCEPTION: the name is too long for the copy's directory.
Versions: 1-2.
Not done: throttling (`replica.alter.log.dirs.io.max.bytes.per.second`); authorization.
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
_TOLD = (int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.KAFKA_STORAGE_ERROR))
"""Why this broker has no replica, if it is not merely elsewhere."""


def handle(services: BrokerServices, request: Request) -> AlterReplicaLogDirsResponse:
    """Begin every move that is possible."""
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
    if not os.path.isabs(path):
        return int(ErrorCode.LOG_DIR_NOT_FOUND)
    for directory in services.log_manager.directories:  # by the name that DescribeLogDirs gives
        if absolute_path(path) == absolute_path(directory.path):
            path = directory.path
            break
    try:
        services.mover.move(TopicPartition(topic, index), path)
    except KafkaError as refused:
        found = services.replica_manager.lookup(topic, index)
        if refused.code == ErrorCode.REPLICA_NOT_AVAILABLE and found in _TOLD:
            return found
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
    """Return the same error for every partition."""
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for topic, index, _ in _asked(request.message):
        results.setdefault(topic, []).append(
            AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
        )
    return _response(results)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=2, error_reply=error_reply
)
