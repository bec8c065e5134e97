"""The controller: the machine that decides every change of the cluster's metadata.

State: `state.image`, the metadata after every record that was committed before this node became
active or decided here since; sessions of brokers; an open metadata transaction. A controller exists
only while its node leads the quorum: losing leadership discards it, with everything that was not
committed.
     A method may yield between the parts of a long request (`state.breathe`): the driver makes no
     other decision before it has finished.
In:  one method per request or periodic task (decide: reads, returns records and the reply),
     `activate` when this node becomes the leader of the quorum, `replay` for records.
Out: Decisions. The driver replays their records here and appends them, atomic ones as a whole and
     others in pieces, and releases the reply when they are committed. KafkaError from a decide
     method answers the whole request.
Invariant: only `replay` changes the image, by the same `MetadataReplay` as for committed records.
Source: Kafka's `QuorumController.java`, `ActivationRecordsGenerator.java`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from pykbroker.config import BrokerConfig
from pykbroker.decision import Decision, MetadataRecord
from pykbroker.environment.randomness import RandomSource
from pykbroker.environment.slices import Breathe, go_on
from pykbroker.kraft.controller import brokers, producer_ids
from pykbroker.kraft.controller.colliding_names import CollidingNames
from pykbroker.kraft.controller.eligible_leaders import cluster_min_isr
from pykbroker.kraft.controller.partition_index import PartitionIndex
from pykbroker.kraft.controller.state import ControllerState
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_replay import MetadataReplay
from pykbroker.kraft.metadata_version import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    METADATA_VERSION,
    supports_transactions,
)
from pykbroker.protocol.messages.abort_transaction_record import AbortTransactionRecord
from pykbroker.protocol.messages.begin_transaction_record import BeginTransactionRecord
from pykbroker.protocol.messages.end_transaction_record import EndTransactionRecord
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord

_BOOTSTRAP_TRANSACTION = "Bootstrap records"


class Controller:
    """Decides every change of the cluster's metadata while this node leads the quorum."""

    def __init__(
        self,
        *,
        node_id: int,
        cluster_id: str,
        config: BrokerConfig,
        new_uuid: Callable[[], bytes],
        random: RandomSource,
        committed: MetadataReplay,
        next_offset: int,
        kraft_version: int = 0,
        voter_ids: Callable[[], Collection[int]] = tuple,
        breathe: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin from the `committed` state; the next record has `next_offset`. May breathe."""
        self.state = ControllerState(
            node_id=node_id,
            cluster_id=cluster_id,
            config=config,
            new_uuid=new_uuid,
            random=random,
            voter_ids=voter_ids,
            breathe=breathe,
        )
        self.state.kraft_version = kraft_version
        self._replay = committed
        self.state.image = committed.latest()
        self.state.index = PartitionIndex(committed.stable, breathe)
        self.state.colliding_names = CollidingNames(committed.stable, breathe)
        self.state.next_offset = next_offset
        # A broker is unfenced once it has read what was in the log when this controller began.
        self.state.registration_offsets = dict.fromkeys(self.state.image.brokers, next_offset - 1)

    @property
    def image(self) -> MetadataImage:
        """The latest state, including records that are not yet committed."""
        return self.state.image

    # Records.

    def replay(
        self,
        records: Sequence[MetadataRecord],
        base_offset: int,
        epoch: int,
        timestamp_ms: int,
        breathe: Breathe = go_on,
        end_offset: Callable[[], int] | None = None,
    ) -> None:
        """Apply a batch of records, the first of them at `base_offset`.

        `breathe` is called between them, while the image is still the one before. Control records
        may be appended meanwhile: `end_offset` returns the end of the log after the last breath,
        where these records follow.
        """
        state = self.state
        steps = self._replay.replay(records, base_offset, epoch, timestamp_ms, breathe)
        for step in (*steps, self._replay.seal(breathe)):
            if step is not None:
                state.index.follow(step.delta, breathe)
                state.colliding_names.follow(step.delta, breathe)
        state.image = self._replay.latest()
        if end_offset is not None:
            base_offset = end_offset()
        for offset, record in enumerate(records, base_offset):
            if isinstance(record.message, RegisterBrokerRecord):
                state.registration_offsets[record.message.broker_id] = offset
        state.next_offset = base_offset + len(records)

    # Leadership.

    def activate(
        self, bootstrap: Sequence[MetadataRecord], now_ms: int
    ) -> Decision[MetadataRecord]:
        """Return the records that must be written first now that this node leads the quorum.

        A log without a metadata.version receives the bootstrap records of `storage format`, in one
        metadata transaction if their metadata.version supports that; if they enable eligible leader
        replicas, also the cluster-wide `min.insync.replicas`. A transaction left open by a previous
        leader is aborted. The sessions of all unfenced brokers begin.
        """
        for broker in self.image.brokers.values():
            if not broker.fenced:
                self.state.sessions.touch(broker.id, broker.epoch, now_ms)
        records: list[MetadataRecord] = []
        if self._replay.in_transaction:
            records.append(MetadataRecord(AbortTransactionRecord(reason="Controller failover")))
        formatted = METADATA_VERSION in self._replay.stable.features
        if not formatted:
            levels = {
                record.message.name: record.message.feature_level
                for record in bootstrap
                if type(record.message).__name__ == "FeatureLevelRecord"
            }
            if levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0:
                bootstrap = [*bootstrap, cluster_min_isr(self.state)]
            if supports_transactions(levels.get(METADATA_VERSION, 0)):
                begin = BeginTransactionRecord(name=_BOOTSTRAP_TRANSACTION)
                records += [MetadataRecord(begin), *bootstrap]
                records.append(MetadataRecord(EndTransactionRecord()))
            else:
                records += bootstrap
        return Decision(records=records)

    def no_op(self) -> Decision[MetadataRecord]:
        """Return a no-op record, which shows after
        `metadata.max.idle.interval.ms` that the quorum is alive.
        """
        return Decision(records=[MetadataRecord(NoOpRecord())])

    # Requests.

    def create_topics(self, request: Any) -> Decision[MetadataRecord]:
        """CreateTopicsRequest -> CreateTopicsResponse."""
        from pykbroker.kraft.controller.topics import create_topics

        return create_topics(self.state, request)

    def delete_topics(self, request: Any, version: int) -> Decision[MetadataRecord]:
        """DeleteTopicsRequest -> DeleteTopicsResponse."""
        from pykbroker.kraft.controller.topic_deletion import delete_topics

        return delete_topics(self.state, request, version)

    def create_partitions(self, request: Any) -> Decision[MetadataRecord]:
        """CreatePartitionsRequest -> CreatePartitionsResponse."""
        from pykbroker.kraft.controller.topic_growth import create_partitions

        return create_partitions(self.state, request)

    def alter_partition(self, request: Any, version: int) -> Decision[MetadataRecord]:
        """AlterPartitionRequest -> AlterPartitionResponse."""
        from pykbroker.kraft.controller.alter_partition import alter_partition

        return alter_partition(self.state, request, version)

    def elect_leaders(self, request: Any) -> Decision[MetadataRecord]:
        """ElectLeadersRequest -> ElectLeadersResponse."""
        from pykbroker.kraft.controller.elections import elect_leaders

        return elect_leaders(self.state, request)

    def alter_partition_reassignments(self, request: Any) -> Decision[MetadataRecord]:
        """AlterPartitionReassignmentsRequest -> AlterPartitionReassignmentsResponse."""
        from pykbroker.kraft.controller.reassignment import alter_partition_reassignments

        return alter_partition_reassignments(self.state, request)

    def list_partition_reassignments(self, request: Any) -> Decision[MetadataRecord]:
        """ListPartitionReassignmentsRequest -> ListPartitionReassignmentsResponse."""
        from pykbroker.kraft.controller.reassignment import list_partition_reassignments

        return list_partition_reassignments(self.state, request)

    def incremental_alter_configs(self, request: Any) -> Decision[MetadataRecord]:
        """IncrementalAlterConfigsRequest -> IncrementalAlterConfigsResponse."""
        from pykbroker.kraft.controller.configs import incremental_alter_configs

        return incremental_alter_configs(self.state, request)

    def legacy_alter_configs(self, request: Any) -> Decision[MetadataRecord]:
        """AlterConfigsRequest -> AlterConfigsResponse."""
        from pykbroker.kraft.controller.configs import legacy_alter_configs

        return legacy_alter_configs(self.state, request)

    def update_features(self, request: Any, version: int) -> Decision[MetadataRecord]:
        """UpdateFeaturesRequest -> UpdateFeaturesResponse."""
        from pykbroker.kraft.controller.features import update_features

        return update_features(self.state, request, version)

    def allocate_producer_ids(self, request: Any) -> Decision[MetadataRecord]:
        """AllocateProducerIdsRequest -> AllocateProducerIdsResponse."""
        return producer_ids.allocate_producer_ids(self.state, request)

    def assign_replicas_to_dirs(self, request: Any) -> Decision[MetadataRecord]:
        """AssignReplicasToDirsRequest -> AssignReplicasToDirsResponse."""
        from pykbroker.kraft.controller.directories import assign_replicas_to_dirs

        return assign_replicas_to_dirs(self.state, request)

    def register_broker(self, request: Any, version: int, now_ms: int) -> Decision[MetadataRecord]:
        """BrokerRegistrationRequest -> BrokerRegistrationResponse."""
        return brokers.register_broker(self.state, request, version, now_ms)

    def heartbeat(self, request: Any, now_ms: int) -> Decision[MetadataRecord]:
        """BrokerHeartbeatRequest -> BrokerHeartbeatResponse."""
        return brokers.heartbeat(self.state, request, now_ms)

    def register_controller(self, request: Any) -> Decision[MetadataRecord]:
        """ControllerRegistrationRequest -> ControllerRegistrationResponse."""
        return brokers.register_controller(self.state, request)

    def unregister_broker(self, broker_id: int) -> Decision[MetadataRecord]:
        """UnregisterBrokerRequest -> UnregisterBrokerResponse."""
        return brokers.unregister_broker(self.state, broker_id)

    def unregister_controller(self, controller_id: int) -> Decision[MetadataRecord]:
        """UnregisterControllerRequest -> UnregisterControllerResponse."""
        return brokers.unregister_controller(self.state, controller_id)

    def fence_stale_broker(self, now_ms: int) -> Decision[MetadataRecord]:
        """Fence a broker whose session has expired; the reply is True if there was one."""
        return brokers.fence_stale_broker(self.state, now_ms)

    def has_stale_broker(self, now_ms: int) -> bool:
        """Return whether the session of a broker has expired, even of one that is fenced."""
        return self.state.sessions.expired(now_ms) is not None

    def balance_leaders(self) -> Decision[MetadataRecord]:
        """Elect preferred leaders; the reply is whether there may be more to elect."""
        from pykbroker.kraft.controller.elections import balance_leaders

        return balance_leaders(self.state)

    def elect_unclean_leaders(self) -> Decision[MetadataRecord]:
        """Elect unclean leaders where the topic allows it; the reply as for `balance_leaders`."""
        from pykbroker.kraft.controller.elections import elect_unclean_leaders

        return elect_unclean_leaders(self.state)
