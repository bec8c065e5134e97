"""Transactional batches and offsets are verified before they are appended (KIP-890).

    the transaction is open in the partition     nothing is asked: the coordinator knows of it
    it is not                                    the partition's log gives a guard, and the
                                                 coordinator says whether the partition has joined,
                                                 or lets it join; the append passes the guard

If `transaction.partition.verification.enable` is false, the coordinator is asked only for
partitions that join with the request, and the log appends without a guard.

In:  partitions and the sequences of their batches. Out: `Verified`: codes and guards.
Source: `ReplicaManager.maybeSendPartitionsToTransactionCoordinator`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.log.producers.verification import UNVERIFIED, VerificationGuard
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.broker.transactions.transaction_joining_driver import Codes


class Verified:
    """The outcome for the partitions of one request: `codes` of those that must not be appended."""

    __slots__ = ("_guards", "_is_required", "codes")

    def __init__(
        self, codes: Codes, guards: dict[TopicPartition, VerificationGuard], is_required: bool
    ) -> None:
        self.codes = codes
        self._guards = guards
        self._is_required = is_required

    def guard(self, topic_partition: TopicPartition) -> VerificationGuard | None:
        """Return the guard for an append to the partition; None: it is not checked there."""
        if not self._is_required:
            return None
        return self._guards.get(topic_partition, UNVERIFIED)


def verify(
    services: BrokerServices,
    transactional_id: str,
    producer_id: int,
    producer_epoch: int,
    sequences: Mapping[TopicPartition, int],
    support: TransactionSupport,
) -> Verified | Deferred:
    """Verify the partitions for this producer's transaction, or return a Deferred of the outcome.

    sequences: the base sequence of each partition's first batch.
    """
    joins = support is TransactionSupport.JOINING
    is_required = services.config.transaction_partition_verification_enable
    if not joins and not is_required:
        return Verified({}, {}, is_required)
    codes: Codes = {}
    guards: dict[TopicPartition, VerificationGuard] = {}
    now_ms = services.wall_ms()
    for topic_partition, sequence in sequences.items():
        services.breathe()
        found = services.replica_manager.lookup(*topic_partition)
        if isinstance(found, int):
            codes[topic_partition] = found
        elif not found.is_leader:
            codes[topic_partition] = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        else:
            try:
                guard = found.log.producers.start_verification(
                    producer_id, sequence, producer_epoch, joins, now_ms
                )
            except KafkaError as refusal:
                codes[topic_partition] = refusal.code
                continue
            if guard is not None:
                guards[topic_partition] = guard
    if not guards:
        return Verified(codes, guards, is_required)
    asked = services.transaction_joining.ask(
        transactional_id, producer_id, producer_epoch, guards, support
    )
    return then(asked, lambda refused: Verified(codes | refused, guards, is_required))
