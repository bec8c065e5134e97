"""The log directory of each replica on its broker (KIP-858), as reported by the broker.

In:  AssignReplicasToDirs of a broker that created or moved replicas, or found them elsewhere.
Out: `PartitionChangeRecord`s; if the directory is already offline, also those that remove the
replica from the ISR.
Source: Kafka's `ReplicationControlManager.handleAssignReplicasToDirs`.
"""

from __future__ import annotations

from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.controller.brokers import check_broker_epoch
from pykbroker.kraft.controller.partition_change import Targets
from pykbroker.kraft.controller.partitions import (
    changed_partition,
    leader_acceptor,
    leader_and_isr_updates,
)
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.metadata_version import supports_directory_assignment
from pykbroker.kraft.partition_image import NO_LEADER, PartitionImage
from pykbroker.protocol.messages import assign_replicas_to_dirs_response as response


def assign_replicas_to_dirs(state: ControllerState, request: Any) -> Decision[MetadataRecord]:
    """Decide an AssignReplicasToDirsRequest; every partition has a result. Raises KafkaError for
    another broker epoch, or before metadata.version 3.7-IV2.
    """
    if not supports_directory_assignment(state.metadata_version):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_VERSION, "Directory assignment is not supported yet."
        )
    broker_id = request.broker_id
    check_broker_epoch(state, broker_id, request.broker_epoch)
    broker = state.broker(broker_id)
    assert broker is not None, "its epoch was checked"
    records: list[MetadataRecord] = []
    lost: list[tuple[TopicImage, int, PartitionImage]] = []
    reply = response.AssignReplicasToDirsResponse()
    for directory in request.directories:
        answers = []
        for asked in directory.topics:
            topic = state.image.topics_by_id.get(asked.topic_id)
            partitions = []
            for entry in asked.partitions:
                number = entry.partition_index
                code = _fault(topic, number, broker_id)
                if code == ErrorCode.NONE and topic is not None:
                    partition = topic.partitions[number]
                    record = _change(state, topic, number, broker_id, directory.id)
                    if record is not None:
                        records.append(record)
                    if not broker.has_online(directory.id) and broker_id in partition.isr:
                        lost.append((topic, number, partition))
                partitions.append(
                    response.PartitionData(partition_index=number, error_code=int(code))
                )
            answers.append(response.TopicData(topic_id=asked.topic_id, partitions=partitions))
        reply.directories.append(response.DirectoryData(id=directory.id, topics=answers))
    records += leader_and_isr_updates(state, lost, remove=broker_id)
    return Decision(records=records, reply=reply, atomic=False)


def _fault(topic: TopicImage | None, number: int, broker_id: int) -> ErrorCode:
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    partition = topic.partitions.get(number)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker_id not in partition.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def _change(
    state: ControllerState, topic: TopicImage, number: int, broker_id: int, directory: bytes
) -> MetadataRecord | None:
    """Return the record that places the broker's replica there; None if it is already there.

    A partition without a leader gets one if the new directory makes that possible: an operator may
    have moved its log out of an offline directory.
    """
    partition = topic.partitions[number]
    if partition.directory_of(broker_id) == directory:
        return None
    directories = {broker_id: directory}
    has_leader = partition.leader != NO_LEADER
    return changed_partition(
        state,
        topic,
        number,
        partition,
        Targets(directories=directories),
        # A move to an offline directory is followed by a record of its own.
        acceptable=leader_acceptor(
            state, partition, directories=None if has_leader else directories
        ),
    )
