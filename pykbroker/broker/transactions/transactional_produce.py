"""A Produce request with a transactional id: its batches are verified before they are appended.

While the producer's last transaction is not complete, the coordinator answers
CONCURRENT_TRANSACTIONS:

    version 12+: the partitions join   it is asked again at intervals of
    with the request                   add.partitions.to.txn.retry.backoff.ms, for at most
                                       ...backoff.max.ms and request.timeout.ms; then the client
                                       gets CONCURRENT_TRANSACTIONS
    before                             the client gets NOT_ENOUGH_REPLICAS at once

Source: `ReplicaManager.handleProduceAppend`.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from pykbroker.broker.requests.produce_checks import FIRST_BY_ID, code_of_records
from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.broker.transactions.transaction_verification import Verified, verify
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError, error_name
from pykbroker.protocol.record_batch import ATTRIBUTES_AT, TRANSACTIONAL_BIT
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.services import BrokerServices
    from pykbroker.network.request import Request
    from pykbroker.protocol.messages.produce_request import ProduceRequest

_producer_of = Struct(">43xqhi").unpack_from  # producer id, epoch, base sequence of a batch

# On these errors some clients retry wrongly, or request new metadata; the replacement makes them
# just retry.
_TOLD_AS_TOO_FEW_REPLICAS = frozenset(
    (
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    )
)


def produce_error(code: int, version: int) -> tuple[int, str | None]:
    """Return (code, message) for the client, of a partition that could not be verified with `code`;
    the message is None if Kafka's own text serves.
    """
    if code == ErrorCode.INVALID_TXN_STATE:
        return code, "Partition was not added to the transaction"
    if code in _TOLD_AS_TOO_FEW_REPLICAS or (
        code == ErrorCode.CONCURRENT_TRANSACTIONS
        and TransactionSupport.of_produce(version) is not TransactionSupport.JOINING
    ):
        return int(ErrorCode.NOT_ENOUGH_REPLICAS), (
            "Unable to verify the partition has been added to the transaction. "
            f"Underlying error: {error_name(code)}"
        )
    return code, None


def verify_batches(services: BrokerServices, request: Request) -> Verified | Deferred | None:
    """Verify what would be appended of the request; see the module's text. None if no batch is
    transactional or the request has no transactional id. Raises KafkaError
    INVALID_PRODUCER_ID_MAPPING if the transactional batches are of several producer ids or epochs.
    """
    message: ProduceRequest = request.message
    producers, sequences = _transactional_batches(services, message, request.api_version)
    if len(producers) > 1:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            "Transactional records contained more than one producer ID",
        )
    if not producers or message.transactional_id is None:
        return None
    support = TransactionSupport.of_produce(request.api_version)
    ((producer_id, epoch),) = producers
    attempts = _Attempts(services, message.transactional_id, producer_id, epoch, sequences, support)
    return attempts.start()


def _transactional_batches(
    services: BrokerServices, message: ProduceRequest, version: int
) -> tuple[set[tuple[int, int]], dict[TopicPartition, int]]:
    """Return (id, epoch) of the producers of transactional batches, and the partitions with the
    base sequences of theirs.
    """
    manager = services.replica_manager
    producers: set[tuple[int, int]] = set()
    sequences: dict[TopicPartition, int] = {}
    for topic in message.topic_data:
        name = manager.topic_name(topic.topic_id) if version >= FIRST_BY_ID else topic.name
        for asked in topic.partition_data:
            services.breathe()
            records: memoryview | None = asked.records  # type: ignore[assignment]
            if (
                name is None
                or records is None
                or manager.image.partition(name, asked.index) is None
                or code_of_records(records, version)
                or not records[ATTRIBUTES_AT + 1] & TRANSACTIONAL_BIT
            ):
                continue
            producer_id, epoch, sequence = _producer_of(records)
            if producer_id >= 0:
                producers.add((producer_id, epoch))
                sequences[TopicPartition(name, asked.index)] = sequence
    return producers, sequences


class _Attempts:
    """The verification of one request; if partitions join with it, tried again while the last
    transaction is not over.
    """

    def __init__(
        self,
        services: BrokerServices,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        sequences: dict[TopicPartition, int],
        support: TransactionSupport,
    ) -> None:
        config = services.config
        self._services = services
        self._asked = (transactional_id, producer_id, epoch, sequences, support)
        self._is_retried = support is TransactionSupport.JOINING
        self._backoff_ms = config.add_partitions_to_txn_retry_backoff_ms
        longest_ms = config.add_partitions_to_txn_retry_backoff_max_ms
        self._end_ms = services.now_ms() + min(longest_ms, config.request_timeout_ms)
        self._answer = Deferred()

    def start(self) -> Verified | Deferred:
        """The outcome, or the Deferred of it."""
        self._try()
        return self._answer.value if self._answer.done else self._answer

    def _try(self) -> None:
        outcome = verify(self._services, *self._asked)
        if isinstance(outcome, Deferred):
            outcome.on_resolved(self._on_outcome)
        else:
            self._on_outcome(outcome)

    def _on_outcome(self, verified: Verified) -> None:
        if (
            self._is_retried
            and ErrorCode.CONCURRENT_TRANSACTIONS in verified.codes.values()
            and self._services.now_ms() < self._end_ms
        ):
            self._services.environment.scheduler.call_later(self._backoff_ms, self._try)
        else:
            self._answer.resolve(verified)
