"""The active controller of a cluster in a test: one topic, its elections, its AlterPartition.

State: what the metadata log holds, as records and as the sets they make.
In:  nodes that come and go, AlterPartition requests. Out: records, to listeners, after a delay.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.alter_partition_request import AlterPartitionRequest
from pykbroker.protocol.messages.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.protocol.messages.register_broker_record import RegisterBrokerRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.primitives import Message
from tests.broker.handlers.data_plane import through_the_wire
from tests.harness.records import partition_record
from tests.replication.node import topic_id_of

TOPIC = "t"
TOPIC_ID = topic_id_of(7)


class Controller:
    """The active controller, for the one topic there is."""

    def __init__(
        self,
        dice: random.Random,
        later: Callable[[int, Callable[[], object]], object],
        replicas: tuple[int, ...],
        partitions: int,
    ) -> None:
        self._dice = dice
        self._later = later
        self._listeners: list[Callable[[list[Any], int], None]] = []
        self.epochs: dict[int, int] = {}
        self.alive: set[int] = set()
        self.isr = [list(replicas) for _ in range(partitions)]
        self.leader = [-1] * partitions
        self.leader_epoch = [0] * partitions
        self.partition_epoch = [0] * partitions
        self.log: list[Any] = [
            TopicRecord(name=TOPIC, topic_id=TOPIC_ID),
            ConfigRecord(
                resource_type=2, resource_name=TOPIC, name="min.insync.replicas", value="2"
            ),
        ]
        for number in range(partitions):
            self.log.append(
                partition_record(
                    TOPIC_ID,
                    number,
                    replicas=list(replicas),
                    isr=list(replicas),
                    leader=-1,
                )
            )

    def subscribe(self, listener: Callable[[list[Any], int], None]) -> None:
        """Call `listener(log, end)` some time after each change."""
        self._listeners.append(listener)

    def register(self, node_id: int) -> int:
        """The node comes up; its broker epoch."""
        self.epochs[node_id] = len(self.log) + 100
        self.alive.add(node_id)
        self._registration(node_id, fenced=False)
        for number in range(len(self.isr)):
            if self.leader[number] < 0:
                self.elect(number)
        self.publish()
        return self.epochs[node_id]

    def fence(self, node_id: int) -> None:
        self.alive.discard(node_id)
        self._registration(node_id, fenced=True)
        for number, isr in enumerate(self.isr):
            if node_id in isr and len(isr) > 1:
                isr.remove(node_id)
            if self.leader[number] == node_id:
                self.elect(number)
            else:
                self._change(number, isr=list(isr))
        self.publish()

    def elect(self, number: int) -> None:
        """A live member of the ISR other than the leader, if there is one."""
        candidates = [r for r in self.isr[number] if r in self.alive]
        others = [r for r in candidates if r != self.leader[number]] or candidates
        self.leader[number] = self._dice.choice(others) if others else -1
        self.leader_epoch[number] += 1
        self._change(number, leader=self.leader[number], isr=list(self.isr[number]))

    def _registration(self, node_id: int, fenced: bool) -> None:
        self.log.append(
            RegisterBrokerRecord(
                broker_id=node_id,
                broker_epoch=self.epochs[node_id],
                incarnation_id=bytes(16),
                fenced=fenced,
            )
        )

    def _change(self, number: int, **fields: Any) -> None:
        self.partition_epoch[number] += 1
        self.log.append(PartitionChangeRecord(partition_id=number, topic_id=TOPIC_ID, **fields))

    def publish(self) -> None:
        for listener in self._listeners:
            self._later(self._dice.randint(1, 60), partial(listener, self.log, len(self.log)))

    def channel(self, is_in: Callable[[], bool]) -> Callable[[Message, int], Deferred]:
        """How a node that is up while `is_in` sends AlterPartition."""

        def send(message: Message, deadline_ms: int) -> Deferred:
            answer = Deferred()
            asked = through_the_wire(message, message.LATEST_VERSION)

            def reply(response: Message) -> None:
                if is_in():
                    answer.resolve(response)

            def decide() -> None:
                response = through_the_wire(self.alter(asked), message.LATEST_VERSION)
                self._later(self._dice.randint(1, 20), lambda: reply(response))

            self._later(self._dice.randint(1, 20), decide)
            return answer

        return send

    def alter(self, asked: AlterPartitionRequest) -> AlterPartitionResponse:
        if self.epochs.get(asked.broker_id) != asked.broker_epoch:
            return AlterPartitionResponse(error_code=int(ErrorCode.STALE_BROKER_EPOCH))
        answers = [
            self._alter_partition(asked.broker_id, entry)
            for topic in asked.topics
            for entry in topic.partitions
        ]
        self.publish()
        return AlterPartitionResponse(topics=[TopicData(topic_id=TOPIC_ID, partitions=answers)])

    def _alter_partition(self, broker_id: int, entry: Any) -> PartitionData:
        number = entry.partition_index
        code = 0
        new_isr = [state.broker_id for state in entry.new_isr_with_epochs]
        if entry.leader_epoch < self.leader_epoch[number] or self.leader[number] != broker_id:
            code = ErrorCode.FENCED_LEADER_EPOCH
        elif entry.partition_epoch < self.partition_epoch[number]:
            code = ErrorCode.INVALID_UPDATE_VERSION
        elif any(
            state.broker_id not in self.alive
            or state.broker_epoch not in (-1, self.epochs[state.broker_id])
            for state in entry.new_isr_with_epochs
        ):
            code = ErrorCode.INELIGIBLE_REPLICA
        else:
            self.isr[number] = new_isr
            self._change(number, isr=list(new_isr))
        return PartitionData(
            partition_index=number,
            error_code=int(code),
            leader_id=self.leader[number],
            leader_epoch=self.leader_epoch[number],
            isr=list(self.isr[number]),
            partition_epoch=self.partition_epoch[number],
        )
