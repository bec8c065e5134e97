"""Sends changes to in-sync replicas to the controller, one AlterPartition at a time.

    submit      a second change of a partition that is queued: OPERATION_NOT_ATTEMPTED
    send        everything queued, in one request
    answered    each partition gets its own answer and leaves the queue
                one that the answer left out stays, and is sent again
    no answer, or an error of the whole request: sent again after RETRY_MS
    UNSUPPORTED_VERSION: sent again in the other form, version 2 has no broker epochs

Answers reach a partition as its steps ProposalAccepted and ProposalRefused.
Invariants: at most one request is in flight; a queued change is answered at most once.
Source: Kafka's `DefaultAlterPartitionManager.java`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykbroker.deferred import Deferred
from pykbroker.environment.scheduler import Scheduler, Timer
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.partition_image import RECOVERED, RECOVERING
from pykbroker.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from pykbroker.protocol.messages.alter_partition_response import AlterPartitionResponse
from pykbroker.protocol.primitives import Message
from pykbroker.replication.partition_events import (
    ProposalAccepted,
    ProposalRefused,
    ProposeIsr,
)

if TYPE_CHECKING:
    from pykbroker.protocol.messages.alter_partition_response import (
        PartitionData as AnsweredPartition,
    )
    from pykbroker.replication.partition import Partition
    from pykbroker.replication.replica_manager import ReplicaManager

RETRY_MS = 50
REQUEST_TIMEOUT_MS = 30_000
UNSUPPORTED = int(ErrorCode.UNSUPPORTED_VERSION)
NOT_ATTEMPTED = int(ErrorCode.OPERATION_NOT_ATTEMPTED)

_log = logging.getLogger(__name__)

PartitionKey = tuple[bytes, int]


class AlterPartitionDriver:
    """Sends changes to in-sync replicas to the controller.

    `broker_epoch` is the epoch of this node's registration; `on_progress` is called after each
    answer or failure of a request, when responses may be ready to leave.
    """

    def __init__(
        self,
        *,
        manager: ReplicaManager,
        send_to_controller: Callable[[Message, int], Deferred],
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        broker_epoch: Callable[[], int],
        on_progress: Callable[[], None],
    ) -> None:
        self._manager = manager
        self._send_to_controller = send_to_controller
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._broker_epoch = broker_epoch
        self._on_progress = on_progress
        self._queued: dict[PartitionKey, tuple[Partition, ProposeIsr]] = {}
        self._is_in_flight = False
        self._with_epochs = True
        self._retry: Timer | None = None
        self._is_closed = False

    def close(self) -> None:
        """Stop sending; an answer that still arrives is dropped."""
        self._is_closed = True
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def submit(self, partition: Partition, proposal: ProposeIsr) -> None:
        """See `IsrProposals`."""
        key = (partition.topic_id, partition.index)
        if key in self._queued:
            refusal = ProposalRefused(proposal, NOT_ATTEMPTED)
            self._manager.step(partition, refusal, self._now_ms())
            return
        self._queued[key] = (partition, proposal)
        self._send()

    def _send(self) -> None:
        if self._is_closed or self._is_in_flight or self._retry is not None or not self._queued:
            return
        self._is_in_flight = True
        sent = dict(self._queued)
        message = self._request(sent)
        answer = self._send_to_controller(message, self._now_ms() + REQUEST_TIMEOUT_MS)
        answer.on_resolved(lambda response: self._answered(sent, response))

    def _request(self, sent: dict[PartitionKey, tuple[Partition, ProposeIsr]]) -> Message:
        broker_epoch = self._broker_epoch()
        local_id = self._manager.node_id
        topics: dict[bytes, TopicData] = {}
        for (topic_id, index), (_, proposal) in sent.items():
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = TopicData(topic_id=topic_id, partitions=[])
            topic.partitions.append(
                PartitionData(
                    partition_index=index,
                    leader_epoch=proposal.leader_epoch,
                    **self._isr_fields(proposal, broker_epoch),
                    leader_recovery_state=proposal.leader_recovery_state,
                    partition_epoch=proposal.partition_epoch,
                )
            )
        return AlterPartitionRequest(
            broker_id=local_id, broker_epoch=broker_epoch, topics=list(topics.values())
        )

    def _isr_fields(self, proposal: ProposeIsr, broker_epoch: int) -> dict[str, Any]:
        if not self._with_epochs:
            return {"new_isr": [replica for replica, _ in proposal.isr]}
        local_id = self._manager.node_id
        states = [
            BrokerState(
                broker_id=replica, broker_epoch=broker_epoch if replica == local_id else epoch
            )
            for replica, epoch in proposal.isr
        ]
        return {"new_isr_with_epochs": states}

    def _answered(
        self,
        sent: dict[PartitionKey, tuple[Partition, ProposeIsr]],
        response: AlterPartitionResponse | BaseException,
    ) -> None:
        if self._is_closed:
            return
        must_wait = True
        if isinstance(response, BaseException):
            if not isinstance(response, KafkaError):
                raise response
            _log.warning("AlterPartition got no response: %s; retrying", response)
            if response.code == UNSUPPORTED:
                self._with_epochs = not self._with_epochs
        elif response.error_code:
            _log.warning(
                "the controller rejected AlterPartition: %s; retrying",
                KafkaError(response.error_code),
            )
        else:
            must_wait = self._deliver(sent, response)
        self._is_in_flight = False
        if must_wait:
            self._retry = self._scheduler.call_later(RETRY_MS, self._send_again)
        else:
            self._send()
        self._on_progress()

    def _send_again(self) -> None:
        self._retry = None
        self._send()

    def _deliver(
        self,
        sent: dict[PartitionKey, tuple[Partition, ProposeIsr]],
        response: AlterPartitionResponse,
    ) -> bool:
        """Give each partition its answer. Return True if the next request has to wait: the answer
        left a partition out, or rejected a change that was therefore submitted again.
        """
        answered = {
            (topic.topic_id, found.partition_index): found
            for topic in response.topics
            for found in topic.partitions
        }
        is_again = False
        for key, (partition, proposal) in sent.items():
            found = answered.get(key)
            if found is None:
                _log.warning(
                    "%s: not in the controller's answer to AlterPartition",
                    partition.topic_partition,
                )
                is_again = True
                continue
            del self._queued[key]  # the step may submit the next change
            event = _event(proposal, found)
            self._manager.step(partition, event, self._now_ms())
            is_again = is_again or (isinstance(event, ProposalRefused) and key in self._queued)
        return is_again


def _event(proposal: ProposeIsr, answer: AnsweredPartition) -> ProposalAccepted | ProposalRefused:
    code = answer.error_code
    if not code and answer.leader_recovery_state not in (RECOVERED, RECOVERING):
        code = int(ErrorCode.UNKNOWN_SERVER_ERROR)
    if code:
        return ProposalRefused(proposal, code)
    return ProposalAccepted(
        proposal,
        tuple(answer.isr),
        answer.leader_epoch,
        answer.partition_epoch,
        answer.leader_recovery_state,
    )
