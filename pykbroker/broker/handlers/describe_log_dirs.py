"""DescribeLogDirs (35): the log directories of this broker and their contents.

Behaviour: one result per directory, even for one without any of the requested partitions. Each
partition has its size in bytes and the lag of its log end behind the high watermark (for a copy
that is being moved: behind the log; -1 where that is unknown). A null list of topics requests all.
An offline directory has only KAFKA_STORAGE_ERROR; partitions that are not here are omitted.
Versions: 1-5; volume sizes from 4, cordoned directories (never here) from 5.
Not done: authorization.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.broker.handlers import Handler, InSlices
from pykbroker.environment.slices import paced
from pykbroker.log.directories.directory_report import absolute_path
from pykbroker.protocol.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.log.directories.directory_report import DirectoryReport, LogReport
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest

API_KEY = 35


def handle(services: BrokerServices, request: Request) -> InSlices:
    """Report every directory, in slices."""
    return InSlices(partial(report, services, request))


def report(services: BrokerServices, request: Request) -> DescribeLogDirsResponse:
    """Return the contents of every directory."""
    wanted = _wanted(services, request.message)
    return DescribeLogDirsResponse(
        results=[
            _result(services, found)
            for found in services.log_manager.reports(wanted, services.breathe)
        ]
    )


def _wanted(
    services: BrokerServices, message: DescribeLogDirsRequest
) -> Callable[[TopicPartition], bool] | None:
    if message.topics is None:
        return None
    asked = {
        TopicPartition(topic.topic, index)
        for topic in paced(message.topics, services.breathe)
        for index in paced(topic.partitions, services.breathe)
    }
    return asked.__contains__


def _result(services: BrokerServices, report: DirectoryReport) -> DescribeLogDirsResult:
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    for log in report.logs:
        services.breathe()
        topics.setdefault(log.topic_partition.topic, []).append(
            DescribeLogDirsPartition(
                partition_index=log.topic_partition.partition,
                partition_size=log.size_bytes,
                offset_lag=log.offset_lag if log.is_future else _lag(services, log),
                is_future_key=log.is_future,
            )
        )
    return DescribeLogDirsResult(
        error_code=report.error,
        log_dir=absolute_path(report.path),
        topics=[
            DescribeLogDirsTopic(name=name, partitions=logs)
            for name, logs in paced(topics.items(), services.breathe)
        ],
        total_bytes=report.total_bytes,
        usable_bytes=report.usable_bytes,
    )


def _lag(services: BrokerServices, log: LogReport) -> int:
    partition = services.replica_manager.find(*log.topic_partition)
    if partition is None:
        return -1
    return max(partition.high_watermark - partition.log.log_end_offset, 0)


def error_reply(request: Request, code: int, message: str | None = None) -> DescribeLogDirsResponse:
    """Return the top-level error (which versions before 3 do not have)."""
    return DescribeLogDirsResponse(error_code=code)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=1, max_version=5, error_reply=error_reply
)
