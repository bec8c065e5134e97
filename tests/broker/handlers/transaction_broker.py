"""A broker for tests of the transaction handlers: both coordinators, real logs, virtual time."""

from __future__ import annotations

from typing import Any

from pykbroker.broker.handlers import (
    add_partitions_to_txn,
    end_txn,
    init_producer_id,
)
from pykbroker.broker.transactions.transaction_joining_driver import TransactionJoining
from pykbroker.broker.transactions.transaction_markers import write_markers
from pykbroker.coordinator.transaction.transaction_coordinator_driver import (
    TransactionCoordinator,
)
from pykbroker.deferred import Deferred
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from pykbroker.protocol.messages.create_topics_request import CreateTopicsRequest
from pykbroker.protocol.messages.end_txn_request import EndTxnRequest
from pykbroker.protocol.messages.feature_level_record import FeatureLevelRecord
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from pykbroker.types import Peer
from tests.broker.handlers.group_broker import GroupBroker

STATE_PARTITIONS = 2
STATE_TOPIC_NUMBER = 98


class Ids:
    """Producer ids from 100 on."""

    def __init__(self) -> None:
        self.next = 100

    def take(self) -> int:
        self.next += 1
        return self.next - 1


class TransactionBroker(GroupBroker):
    """Broker 1; topic "t" has two partitions. `__transaction_state` is there if `ready`."""

    def __init__(self, *, ready: bool = True, **overrides: Any) -> None:
        self.transactions: Any = None
        super().__init__(transaction_state_log_num_partitions=str(STATE_PARTITIONS), **overrides)
        self.producer_ids = Ids()
        self.transactions = TransactionCoordinator.create(
            config=self.config,
            replica_manager=self.replica_manager,
            environment=self.environment,
            wake=self.node.end_turn,
            after_replies=lambda work: work(),
            take_producer_id=self.producer_ids.take,
            write_markers=lambda leader, markers: write_markers(self, markers),  # type: ignore[arg-type]
        )
        self.asked: list[AddPartitionsToTxnRequest] = []  # of another broker
        self.answers: list[Deferred] = []
        self.transaction_joining = TransactionJoining(
            node_id=1,
            image=lambda: self.node.image,
            peer_of=lambda broker_id: Peer(broker_id, "there", 9092),
            send=self._ask_broker,
            local=lambda: self.transactions,
        )
        self.node.apply(FeatureLevelRecord(name="transaction.version", feature_level=2))
        if ready:
            self.make_state_topic()

    def apply(self, *records: Any) -> None:
        """Publish to the replica manager, then to the coordinators."""
        before = self.node.image
        super().apply(*records)
        if self.transactions is not None:
            delta = MetadataDelta(before)
            for record in records:
                delta.replay(record)
            self.transactions.apply(delta, self.node.image)

    def make_state_topic(self) -> None:
        self.node.create_topic(
            TRANSACTION_STATE_TOPIC,
            partitions=STATE_PARTITIONS,
            number=STATE_TOPIC_NUMBER,
            cleanup_policy="compact",
        )

    def _create(self, request: CreateTopicsRequest, deadline_ms: int) -> Any:
        if request.topics[0].name == TRANSACTION_STATE_TOPIC and not self.creation_error:
            self.make_state_topic()
        return super()._create(request, deadline_ms)

    def _ask_broker(self, peer: Peer, request: AddPartitionsToTxnRequest) -> Deferred:
        self.asked.append(request)
        self.answers.append(Deferred())
        return self.answers[-1]

    # ---- a producer

    def init(self, version: int = 5, **fields: Any) -> Any:
        asked: dict[str, Any] = {
            "transactional_id": "id",
            "transaction_timeout_ms": 60_000,
        } | fields
        return self.ask(init_producer_id.HANDLER, InitProducerIdRequest(**asked), version)

    def add(self, epoch: int, *indexes: int, version: int = 3, **fields: Any) -> list[int]:
        """The code of each partition of "t"."""
        asked: dict[str, Any] = {
            "v3_and_below_transactional_id": "id",
            "v3_and_below_producer_id": 100,
            "v3_and_below_producer_epoch": epoch,
            "v3_and_below_topics": [AddPartitionsToTxnTopic(name="t", partitions=list(indexes))],
        } | fields
        answer = self.ask(
            add_partitions_to_txn.HANDLER, AddPartitionsToTxnRequest(**asked), version
        )
        return [
            partition.partition_error_code
            for topic in answer.results_by_topic_v3_and_below
            for partition in topic.results_by_partition
        ]

    def end(self, epoch: int, *, version: int = 4, **fields: Any) -> Any:
        asked: dict[str, Any] = {
            "transactional_id": "id",
            "producer_id": 100,
            "producer_epoch": epoch,
            "committed": True,
        } | fields
        return self.ask(end_txn.HANDLER, EndTxnRequest(**asked), version)
