"""DescribeQuorum (55): the state of the metadata quorum, as seen by its leader.

Behaviour: the only partition is __cluster_metadata-0; a request for any other is answered with
UNKNOWN_TOPIC_OR_PARTITION throughout. A broker forwards the request to the active controller; on a
controller listener, a node that does not lead answers NOT_LEADER_OR_FOLLOWER.
Versions: 0-2. 1+ times of fetches; 2+ directory ids and the endpoints of the voters.
Not done: authorization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pykbroker.broker.forwarding import to_controller
from pykbroker.broker.handlers import Handler
from pykbroker.deferred import Deferred, resolved
from pykbroker.environment.slices import paced
from pykbroker.errors import ErrorCode, error_message
from pykbroker.kraft.raft.raft_roles import Leader, VoterProgress
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.protocol.messages.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)

if TYPE_CHECKING:
    from pykbroker.broker.services import NodeServices
    from pykbroker.kraft.raft.voters import ReplicaKey
    from pykbroker.network.request import Request

API_KEY = 55


def handle(services: NodeServices, request: Request) -> DescribeQuorumResponse | Deferred:
    """Describe the quorum, or forward the request to its leader."""
    if request.connection.listener.is_controller:
        return describe(services, request)
    return to_controller(services, request, here=lambda: resolved(describe(services, request)))


def describe(services: NodeServices, request: Request) -> DescribeQuorumResponse:
    """Describe the quorum as this node knows it as its leader, or refuse the request."""
    topics = request.message.topics
    valid = (
        len(topics) == 1
        and topics[0].topic_name == CLUSTER_METADATA_TOPIC
        and len(topics[0].partitions) == 1
        and topics[0].partitions[0].partition_index == 0
    )
    if not valid:
        return _refused(services, request, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    role = services.raft.role
    if not isinstance(role, Leader):
        return _refused(services, request, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition = _describe(services, role, request.received_ms, request.api_version)
    return DescribeQuorumResponse(
        error_message="",
        topics=[TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])],
        nodes=[] if request.api_version < 2 else _nodes(services),
    )


def _describe(services: NodeServices, role: Leader, now_ms: int, version: int) -> PartitionData:
    raft = services.raft
    end_offset = raft.log_end.offset

    def state(key: ReplicaKey, progress: VoterProgress) -> ReplicaState:
        described = ReplicaState(
            replica_id=key.id,
            log_end_offset=progress.end_offset,
            last_fetch_timestamp=progress.last_fetch_ms,
            last_caught_up_timestamp=progress.last_caught_up_ms,
        )
        if version >= 2:
            described.replica_directory_id = key.directory_id
        return described

    me = VoterProgress(end_offset, now_ms, last_caught_up_ms=now_ms)
    voters = [
        state(node.key, me if voter == raft.local.key.id else role.progress[voter])
        for voter, node in raft.voters.nodes.items()
    ]
    observers = [state(key, progress) for key, progress in role.observers.items()]
    # The broker of this node follows the log through notifications of commits.
    return PartitionData(
        partition_index=0,
        error_message="",
        leader_id=raft.local.key.id,
        leader_epoch=raft.epoch,
        high_watermark=raft.reported_high_watermark,
        current_voters=voters,
        observers=observers,
    )


def _nodes(services: NodeServices) -> list[Node]:
    return [
        Node(
            node_id=voter,
            listeners=[Listener(name=at.name, host=at.host, port=at.port) for at in node.endpoints],
        )
        for voter, node in services.raft.voters.nodes.items()
    ]


def _refused(services: NodeServices, request: Request, code: int) -> DescribeQuorumResponse:
    message = error_message(code) if request.api_version >= 2 else None
    return DescribeQuorumResponse(
        error_message="",
        topics=[
            TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    PartitionData(
                        partition_index=partition.partition_index,
                        error_code=int(code),
                        error_message=message,
                    )
                    for partition in paced(topic.partitions, services.breathe)
                ],
            )
            for topic in paced(request.message.topics, services.breathe)
        ],
    )


def error_reply(request: Request, code: int, message: str | None = None) -> DescribeQuorumResponse:
    """Return `code` for the whole request."""
    return DescribeQuorumResponse(error_code=code, error_message=message)


HANDLER = Handler(
    api_key=API_KEY, handle=handle, min_version=0, max_version=2, error_reply=error_reply
)
