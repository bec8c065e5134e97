"""The request in which a broker reports the directories of its replicas,
grouped by directory and topic.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykbroker.protocol.messages.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)


def assignment_request(
    broker_id: int, broker_epoch: int, placed: Mapping[tuple[bytes, int], bytes]
) -> AssignReplicasToDirsRequest:
    """Build the request; `placed` maps (topic id, partition) to the directory id."""
    grouped: dict[bytes, dict[bytes, list[int]]] = {}
    for (topic_id, partition), directory in placed.items():
        grouped.setdefault(directory, {}).setdefault(topic_id, []).append(partition)
    return AssignReplicasToDirsRequest(
        broker_id=broker_id,
        broker_epoch=broker_epoch,
        directories=[
            DirectoryData(
                id=directory,
                topics=[
                    TopicData(
                        topic_id=topic_id,
                        partitions=[PartitionData(partition_index=number) for number in partitions],
                    )
                    for topic_id, partitions in topics.items()
                ],
            )
            for directory, topics in grouped.items()
        ],
    )
