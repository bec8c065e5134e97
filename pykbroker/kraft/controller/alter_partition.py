"""AlterPartition: the leader of a partition changes the in-sync replicas (KIP-497, KIP-903).

In:  the request of a broker. Out: `PartitionChangeRecord`s, and the resulting state.

    another broker epoch                  STALE_BROKER_EPOCH, for the whole request
    no such topic, no such partition      UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION
    an epoch above the controller's       NOT_CONTROLLER: this controller is probably deposed
    an older leader epoch                 FENCED_LEADER_EPOCH
    an older partition epoch              INVALID_UPDATE_VERSION
    not the leader, an ISR or a recovery
    state that cannot be                  INVALID_REQUEST
    a replica whose broker may not join   INELIGIBLE_REPLICA
    another leader by the same record     NEW_LEADER_ELECTED (as by a completed reassignment)

Source: Kafka's `ReplicationControlManager.alterPartition`.
"""

from __future__ import annotations

from typing import Any

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.errors import ErrorCode
from pykbroker.kraft.controller.brokers import check_broker_epoch
from pykbroker.kraft.controller.partition_change import Targets
from pykbroker.kraft.controller.partitions import changed_partition, election_of
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import TopicImage
from pykbroker.kraft.partition_image import NO_LEADER_CHANGE, RECOVERED, RECOVERING, PartitionImage
from pykbroker.protocol.messages.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)

FIRST_WITH_BROKER_EPOCHS = 3
ANY_EPOCH = -1

NewIsr = tuple[tuple[int, int], ...]
"""(broker id, broker epoch)."""


def alter_partition(state: ControllerState, request: Any, version: int) -> Decision[MetadataRecord]:
    """Decide an AlterPartitionRequest; every partition has a result. Raises KafkaError for another
    broker epoch.
    """
    check_broker_epoch(state, request.broker_id, request.broker_epoch)
    records: list[MetadataRecord] = []
    reply = AlterPartitionResponse()
    for asked in request.topics:
        topic = state.image.topics_by_id.get(asked.topic_id)
        answers = [
            _alter(state, request.broker_id, topic, entry, _new_isr(entry, version), records)
            for entry in asked.partitions
        ]
        reply.topics.append(TopicData(topic_id=asked.topic_id, partitions=answers))
    return Decision(records=records, reply=reply, atomic=False)


def _new_isr(entry: Any, version: int) -> NewIsr:
    if version < FIRST_WITH_BROKER_EPOCHS:
        return tuple((replica, ANY_EPOCH) for replica in entry.new_isr)
    return tuple((each.broker_id, each.broker_epoch) for each in entry.new_isr_with_epochs)


def _alter(
    state: ControllerState,
    broker_id: int,
    topic: TopicImage | None,
    entry: Any,
    new_isr: NewIsr,
    records: list[MetadataRecord],
) -> PartitionData:
    number = entry.partition_index
    if topic is None:
        return _refused(number, ErrorCode.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(number)
    if partition is None:
        return _refused(number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    fault = _fault(state, broker_id, partition, entry, new_isr)
    if fault:
        return _refused(number, fault)
    record = changed_partition(
        state,
        topic,
        number,
        partition,
        Targets(
            isr=tuple(replica for replica, _ in new_isr),
            leader_recovery_state=entry.leader_recovery_state,
        ),
        election=election_of(state, topic),
    )
    if record is not None:
        records.append(record)
        partition = partition.merge(record.message)
        if record.message.leader not in (broker_id, NO_LEADER_CHANGE):
            return _refused(number, ErrorCode.NEW_LEADER_ELECTED)
    return PartitionData(
        partition_index=number,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=list(partition.isr),
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _refused(number: int, code: ErrorCode) -> PartitionData:
    return PartitionData(partition_index=number, error_code=int(code))


def _fault(
    state: ControllerState,
    broker_id: int,
    partition: PartitionImage,
    entry: Any,
    new_isr: NewIsr,
) -> ErrorCode:
    if (
        entry.leader_epoch > partition.leader_epoch
        or entry.partition_epoch > partition.partition_epoch
    ):
        return ErrorCode.NOT_CONTROLLER
    if entry.leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if broker_id != partition.leader:
        return ErrorCode.INVALID_REQUEST
    if entry.partition_epoch < partition.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    members = [replica for replica, _ in new_isr]
    recovery = entry.leader_recovery_state
    if (
        len(set(members)) != len(members)
        or not set(members) <= set(partition.replicas)
        or partition.leader not in members
        or recovery not in (RECOVERED, RECOVERING)
        or (recovery == RECOVERING and len(members) > 1)
        or (recovery == RECOVERING and partition.leader_recovery_state == RECOVERED)
    ):
        return ErrorCode.INVALID_REQUEST
    if not all(_is_eligible(state, *each) for each in new_isr):
        return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE


def _is_eligible(state: ControllerState, broker_id: int, broker_epoch: int) -> bool:
    broker = state.broker(broker_id)
    return (
        broker is not None
        and not broker.fenced
        and not broker.in_controlled_shutdown
        and broker_epoch in (ANY_EPOCH, broker.epoch)
    )
