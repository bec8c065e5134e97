"""Frames of a group for the raw load: heartbeats and commits, once it has a coordinator."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.compare.frames import frame_of
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.heartbeat_request import HeartbeatRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.harness.raw_client import RawClient

SESSION_MS = 300_000  # no heartbeat is needed for as long as a measurement takes
PATIENCE_S = 60.0
NOT_YET = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)


def heartbeat(address: str, topic: str) -> bytes:
    """Return a Heartbeat v3 request of the one member of a new group, which is stable."""
    group = f"group of {topic}"
    with RawClient(address) as client:
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        _asked(client, "FindCoordinator", 2, FindCoordinatorRequest(key=group))
        joined = _asked(client, "JoinGroup", 3, request)
        sync = SyncGroupRequest(
            group_id=group,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            assignments=[SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"")],
        )
        _asked(client, "SyncGroup", 3, sync)
    message = HeartbeatRequest(
        group_id=group, generation_id=joined.generation_id, member_id=joined.member_id
    )
    return frame_of(message, 3)


def commit(address: str, topic: str) -> bytes:
    """Return an OffsetCommit v7 request of one partition, for a group without members."""
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
    message = OffsetCommitRequest(
        group_id=f"group of {topic}",
        topics=[OffsetCommitRequestTopic(name=topic, partitions=partitions)],
    )
    with RawClient(address) as client:
        _asked(client, "FindCoordinator", 2, FindCoordinatorRequest(key=message.group_id))
        _asked(client, "OffsetCommit", 7, message)
    return frame_of(message, 7)


def _asked(client: RawClient, api_name: str, version: int, message: Any) -> Any:
    """Return the response without an error; retry while the coordinator is not available."""
    until = time.monotonic() + PATIENCE_S
    while True:
        answer = client.ask(api_name, version, message)
        code = answer.error_code if hasattr(answer, "error_code") else _first_code(answer)
        if not code:
            return answer
        if code not in NOT_YET or time.monotonic() > until:
            raise RuntimeError(f"{api_name} got error {code}")
        time.sleep(0.05)


def _first_code(answer: Any) -> int:
    code: int = answer.topics[0].partitions[0].error_code
    return code
