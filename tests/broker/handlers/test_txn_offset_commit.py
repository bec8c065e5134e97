"""TxnOffsetCommit on the wire, in every version."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.add_offsets_to_txn import HANDLER as ADD_OFFSETS
from pykbroker.broker.handlers.offset_fetch import HANDLER as FETCH
from pykbroker.broker.handlers.txn_offset_commit import HANDLER
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from pykbroker.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from pykbroker.types import TopicPartition
from tests.broker.handlers.data_plane import Call
from tests.broker.handlers.group_broker import TOPIC_ID
from tests.broker.handlers.transaction_broker import TransactionBroker

PRODUCER = 100
VERSIONS = range(7)
JOINING = (5, 6)
GHOST_ID = b"g" * 16


def request(
    version: int, topics: list[tuple[str, bytes, list[int]]] | None = None, **fields: Any
) -> TxnOffsetCommitRequest:
    asked: dict[str, Any] = {"transactional_id": "id", "group_id": "g", "producer_id": PRODUCER}
    return TxnOffsetCommitRequest(
        producer_epoch=0,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=name if version < 6 else "",
                topic_id=topic_id if version >= 6 else bytes(16),
                partitions=[
                    TxnOffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=5 + index,
                        committed_leader_epoch=3 if version >= 2 else -1,
                        committed_metadata=None if index else "m",
                    )
                    for index in indexes
                ],
            )
            for name, topic_id, indexes in topics or [("t", TOPIC_ID, [0, 1])]
        ],
        **(asked | fields),
    )


class Broker(TransactionBroker):
    def commit_in_transaction(self, message: TxnOffsetCommitRequest, version: int) -> Call:
        call = self.call(HANDLER, message, version)
        self.settle()
        return call

    def settle(self) -> None:
        for _ in range(4):
            self.node.end_turn()

    def committed(self, require_stable: bool = False) -> list[tuple[int, int, int, str, int]]:
        group = OffsetFetchRequestGroup(group_id="g", topics=None)
        asked = OffsetFetchRequest(groups=[group], require_stable=require_stable)
        (found,) = self.ask(FETCH, asked, 9).groups
        return [
            (
                p.partition_index,
                p.committed_offset,
                p.committed_leader_epoch,
                p.metadata,
                p.error_code,
            )
            for topic in found.topics
            for p in topic.partitions
        ]


def codes(call: Call) -> list[tuple[str | bytes, int, int]]:
    return [
        (topic.name or topic.topic_id, partition.partition_index, partition.error_code)
        for topic in call.answer.topics
        for partition in topic.partitions
    ]


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.init()
    return broker


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("committed", [True, False])
def test_offsets_of_a_transaction(broker: Broker, version: int, committed: bool) -> None:
    if version not in JOINING:
        added = AddOffsetsToTxnRequest(
            transactional_id="id", producer_id=PRODUCER, producer_epoch=0, group_id="g"
        )
        assert broker.ask(ADD_OFFSETS, added, 3).error_code == 0
    call = broker.commit_in_transaction(request(version), version)
    topic: str | bytes = TOPIC_ID if version == 6 else "t"
    assert codes(call) == [(topic, 0, 0), (topic, 1, 0)]
    assert broker.committed() == []
    broker.end(0, version=5 if version in JOINING else 3, committed=committed)
    broker.settle()
    epoch = 3 if version >= 2 else -1
    expected = [(0, 5, epoch, "m", 0), (1, 6, epoch, "", 0)] if committed else []
    assert broker.committed() == broker.committed(require_stable=True) == expected


@pytest.mark.parametrize(
    "version, code",
    [
        (0, ErrorCode.INVALID_TXN_STATE),
        (3, ErrorCode.INVALID_TXN_STATE),
        (4, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
def test_older_clients_add_the_group_first(broker: Broker, version: int, code: int) -> None:
    assert codes(broker.commit_in_transaction(request(version), version)) == [
        ("t", 0, code),
        ("t", 1, code),
    ]
    partition = broker.groups.partition_for("g")
    log = broker.replica_manager.partition(TopicPartition(GROUP_METADATA_TOPIC, partition)).log
    assert log.log_end_offset == 0


def test_unstable_offsets(broker: Broker) -> None:
    broker.commit_in_transaction(request(6), 6)
    broker.groups.partition_for("g")
    topics = [("t", TOPIC_ID, [0])]
    broker.end(0, version=5)
    broker.settle()
    again = request(6, topics)
    again.producer_epoch = 1
    assert codes(broker.commit_in_transaction(again, 6)) == [(TOPIC_ID, 0, 0)]
    unstable = int(ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert broker.committed(require_stable=True) == [(0, -1, -1, "", unstable), (1, 6, 3, "", 0)]


@pytest.mark.parametrize("version", JOINING)
def test_what_does_not_exist_comes_first(broker: Broker, version: int) -> None:
    topics = [("ghost", GHOST_ID, [0]), ("t", TOPIC_ID, [1, 9])]
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    t: str | bytes = "t"
    ghost: tuple[str | bytes, int, int] = ("ghost", 0, unknown)
    if version == 6:
        t, ghost = TOPIC_ID, (GHOST_ID, 0, int(ErrorCode.UNKNOWN_TOPIC_ID))
    call = broker.commit_in_transaction(request(version, topics), version)
    assert codes(call) == [ghost, (t, 9, unknown), (t, 1, 0)]
    assert codes(broker.commit_in_transaction(request(version, topics[:1]), version)) == [ghost]


def test_a_group_without_a_name(broker: Broker) -> None:
    found = codes(broker.commit_in_transaction(request(5, group_id=""), 5))
    assert [code for _, _, code in found] == [ErrorCode.INVALID_GROUP_ID] * 2


def test_a_fenced_producer(broker: Broker) -> None:
    broker.commit_in_transaction(request(5), 5)
    broker.end(0, version=5)
    broker.settle()
    found = codes(broker.commit_in_transaction(request(5), 5))
    assert [code for _, _, code in found] == [ErrorCode.INVALID_PRODUCER_EPOCH] * 2


def test_a_producer_that_nobody_knows(broker: Broker) -> None:
    found = codes(broker.commit_in_transaction(request(5, producer_id=99), 5))
    assert [code for _, _, code in found] == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2


@pytest.mark.parametrize("version", VERSIONS)
def test_errors_of_the_way_to_the_coordinator(broker: Broker, version: int) -> None:
    answer = Deferred()
    broker.transaction_joining.ask = lambda *_: answer  # type: ignore[method-assign]
    call = broker.commit_in_transaction(request(version), version)
    assert call.is_waiting
    at = TopicPartition(GROUP_METADATA_TOPIC, broker.groups.partition_for("g"))
    answer.resolve({at: int(ErrorCode.NETWORK_EXCEPTION)})
    expected = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if version < 2:
        expected = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert [code for _, _, code in codes(call)] == [expected] * 2


def test_it_is_written_soon_after_the_coordinator_has_answered(broker: Broker) -> None:
    answer = Deferred()
    broker.transaction_joining.ask = lambda *_: answer  # type: ignore[method-assign]
    call = broker.commit_in_transaction(request(6), 6)
    wakes = broker.wakes
    answer.resolve({})
    assert broker.wakes > wakes
    assert call.is_waiting
    broker.node.end_turn()
    assert [code for _, _, code in codes(call)] == [0, 0]


def test_a_transaction_that_ended_meanwhile_is_not_opened_again(broker: Broker) -> None:
    added = AddOffsetsToTxnRequest(
        transactional_id="id", producer_id=PRODUCER, producer_epoch=0, group_id="g"
    )
    assert broker.ask(ADD_OFFSETS, added, 3).error_code == 0
    answer = Deferred()
    broker.transaction_joining.ask = lambda *_: answer  # type: ignore[method-assign]
    call = broker.commit_in_transaction(request(4), 4)
    broker.end(0, version=4, committed=False)
    broker.settle()
    answer.resolve({})  # it was in the transaction when the coordinator said so
    broker.settle()
    assert [code for _, _, code in codes(call)] == [ErrorCode.INVALID_TXN_STATE] * 2


def test_error_reply(broker: Broker) -> None:
    call = broker.commit_in_transaction(request(6), 6)
    reply: Any = HANDLER.error_reply(call.request, 15, None)
    assert [p.error_code for topic in reply.topics for p in topic.partitions] == [15, 15]
