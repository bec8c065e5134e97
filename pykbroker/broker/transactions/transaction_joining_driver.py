"""Asks transaction coordinators whether partitions have joined a transaction, or lets them join.

    this node coordinates the id     asked in place, without messages
    another broker does              AddPartitionsToTxn to it; one request at a time for each
                                     broker, the next one carries what came meanwhile
    the coordinator is unknown,      COORDINATOR_NOT_AVAILABLE
    fenced or has no address
    it does not answer               NETWORK_EXCEPTION
    it is too old to be asked        taken as joined: it verifies nothing

State: the waiting questions by broker, at most one for each transactional id; the brokers that have
been asked and have not answered.
In:  `ask`. Out: a code for each partition that has not joined (a Deferred, or now).
Invariants: every question is answered once. A question of a higher epoch answers the one that
waits with INVALID_PRODUCER_EPOCH, one of the same epoch (the client tries again) with
NETWORK_EXCEPTION; one of a lower epoch is answered with INVALID_PRODUCER_EPOCH itself.
Source: Kafka's `AddPartitionsToTxnManager.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from pykbroker.broker.transactions.transaction_support import TransactionSupport
from pykbroker.coordinator.partitioning import partition_for
from pykbroker.deferred import Deferred, then
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykbroker.protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.types import Peer

#: Partition -> why it has not joined the transaction; those that have are left out.
Codes = dict[TopicPartition, int]

_log = logging.getLogger(__name__)


class LocalCoordinator(Protocol):
    """This node's transaction coordinator."""

    def join(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: dict[TopicPartition, None],
        *,
        verify_only: bool,
    ) -> dict[int, dict[TopicPartition, None]] | Deferred:
        """Let partitions join, or return whether they have joined: the partitions by code."""


class Question:
    """One transaction's partitions, and the Deferred of the codes for them."""

    __slots__ = ("answer", "support", "transaction")

    def __init__(
        self, transaction: AddPartitionsToTxnTransaction, support: TransactionSupport
    ) -> None:
        self.transaction = transaction
        self.support = support
        self.answer = Deferred()

    def all_with(self, code: int) -> Codes:
        """Return the same code for every partition."""
        return {
            TopicPartition(topic.name, index): int(code)
            for topic in self.transaction.topics
            for index in topic.partitions
        }

    def codes(self, result: AddPartitionsToTxnResult) -> Codes:
        """Return the coordinator's codes, translated for the client."""
        found: Codes = {}
        for topic in result.topic_results:
            for partition in topic.results_by_partition:
                code = _translated(partition.partition_error_code, self.support)
                if code:
                    found[TopicPartition(topic.name, partition.partition_index)] = code
        return found


class TransactionJoining:
    """Asks transaction coordinators on behalf of the partitions of this node.

    peer_of: a broker's address; None if it has none. send(peer, message): a Deferred of
    the response or a KafkaError. local: this node's coordinator.
    """

    def __init__(
        self,
        *,
        node_id: int,
        image: Callable[[], MetadataImage],
        peer_of: Callable[[int], Peer | None],
        send: Callable[[Peer, AddPartitionsToTxnRequest], Deferred],
        local: Callable[[], LocalCoordinator],
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._peer_of = peer_of
        self._send = send
        self._local = local
        self._waiting: dict[int, dict[str, Question]] = {}
        self._asked: set[int] = set()

    def ask(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        support: TransactionSupport,
    ) -> Codes | Deferred:
        """Return the error code of each partition that has not joined the transaction (JOINING:
        that cannot join it), or a Deferred of the codes.
        """
        verify_only = support is not TransactionSupport.JOINING
        coordinator = self._coordinator_of(transactional_id)
        if coordinator is None:
            return dict.fromkeys(partitions, int(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        if coordinator == self._node_id:
            found = self._local().join(
                transactional_id,
                producer_id,
                producer_epoch,
                dict.fromkeys(partitions),
                verify_only=verify_only,
            )
            return then(found, partial(_refusals, support))
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for name, index in partitions:
            topic = topics.setdefault(name, AddPartitionsToTxnTopic(name=name))
            topic.partitions.append(index)
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            verify_only=verify_only,
            topics=list(topics.values()),
        )
        return self._ask_broker(coordinator, Question(transaction, support))

    def _coordinator_of(self, transactional_id: str) -> int | None:
        image = self._image()
        topic = image.topic(TRANSACTION_STATE_TOPIC)
        if topic is None:
            return None
        index = partition_for(transactional_id, len(topic.partitions))
        leader = image.brokers.get(topic.partitions[index].leader)
        return None if leader is None or leader.fenced else leader.id

    def _ask_broker(self, broker_id: int, question: Question) -> Codes | Deferred:
        waiting = self._waiting.setdefault(broker_id, {})
        transactional_id = question.transaction.transactional_id
        before = waiting.get(transactional_id)
        if before is not None:
            epoch_before = before.transaction.producer_epoch
            if epoch_before > question.transaction.producer_epoch:
                return question.all_with(ErrorCode.INVALID_PRODUCER_EPOCH)
            is_newer = epoch_before < question.transaction.producer_epoch
            code = ErrorCode.INVALID_PRODUCER_EPOCH if is_newer else ErrorCode.NETWORK_EXCEPTION
            del waiting[transactional_id]
            before.answer.resolve(before.all_with(code))
        waiting[transactional_id] = question
        self._send_waiting(broker_id)
        return question.answer.value if question.answer.done else question.answer

    def _send_waiting(self, broker_id: int) -> None:
        if broker_id in self._asked:
            return
        questions = self._waiting.pop(broker_id, None)
        if not questions:
            return
        peer = self._peer_of(broker_id)
        if peer is None:
            self._answer_all(questions, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        self._asked.add(broker_id)
        transactions = [question.transaction for question in questions.values()]
        request = AddPartitionsToTxnRequest(transactions=transactions)
        sent = self._send(peer, request)
        sent.on_resolved(partial(self._answered, broker_id, questions))

    def _answered(
        self,
        broker_id: int,
        questions: dict[str, Question],
        outcome: AddPartitionsToTxnResponse | KafkaError,
    ) -> None:
        self._asked.discard(broker_id)
        if isinstance(outcome, KafkaError):
            self._failed(broker_id, questions, outcome)
        else:
            for question in questions.values():
                question.answer.resolve(_codes_of(question, outcome))
        self._send_waiting(broker_id)

    def _failed(self, broker_id: int, questions: dict[str, Question], failure: KafkaError) -> None:
        _log.warning("broker %d did not answer AddPartitionsToTxn: %s", broker_id, failure)
        if failure.code == ErrorCode.UNSUPPORTED_VERSION:
            # It is older than verification: writes need not be verified.
            self._answer_all(questions, ErrorCode.NONE)
        else:
            self._answer_all(questions, ErrorCode.NETWORK_EXCEPTION)

    def _answer_all(self, questions: dict[str, Question], code: int) -> None:
        for question in questions.values():
            question.answer.resolve(question.all_with(code) if code else {})


def _refusals(support: TransactionSupport, found: dict[int, dict[TopicPartition, None]]) -> Codes:
    """Return the codes of this node's coordinator, translated for the client."""
    return {
        partition: _translated(code, support)
        for code, partitions in found.items()
        if code
        for partition in partitions
    }


def _translated(code: int, support: TransactionSupport) -> int:
    """Return what a client of this kind gets for a coordinator's code."""
    if code == ErrorCode.PRODUCER_FENCED:
        return int(ErrorCode.INVALID_PRODUCER_EPOCH)
    if code == ErrorCode.TRANSACTION_ABORTABLE and support is TransactionSupport.OLD:
        return int(ErrorCode.INVALID_TXN_STATE)
    return code


def _codes_of(question: Question, response: AddPartitionsToTxnResponse) -> Codes:
    code = response.error_code
    if code:
        # A client need not know about permissions of brokers.
        if code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            code = int(ErrorCode.INVALID_TXN_STATE)
        return question.all_with(code)
    for result in response.results_by_transaction:
        if result.transactional_id == question.transaction.transactional_id:
            return question.codes(result)
    return question.all_with(ErrorCode.NETWORK_EXCEPTION)  # an answer to something else
