"""Transactional batches through Produce: which producers may write, and what readers see."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.handlers.fetch import HANDLER as FETCH
from pykbroker.broker.handlers.produce import HANDLER
from pykbroker.broker.transactions.transactional_produce import produce_error
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.network.request import CloseConnection
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.replication.partition import READ_COMMITTED, Partition
from tests.broker.handlers.data_plane import Call
from tests.broker.handlers.group_broker import TOPIC_ID
from tests.broker.handlers.transaction_broker import TransactionBroker
from tests.replication.node import batch, topic_id_of

PRODUCER = 100
VERSIONS = range(3, 14)
JOINING = (12, 13)


def records(epoch: int = 0, sequence: int = 0, **options: Any) -> memoryview:
    fields = {"producer_id": PRODUCER, "is_transactional": True} | options
    return batch(b"x", producer_epoch=epoch, base_sequence=sequence, **fields)


def request(*batches: Any, topic: str = "t", topic_id: bytes = TOPIC_ID, **fields: Any) -> Any:
    """One batch for each partition from 0 on."""
    asked: dict[str, Any] = {"transactional_id": "id", "acks": -1, "timeout_ms": 1000} | fields
    partitions = [PartitionProduceData(index=i, records=each) for i, each in enumerate(batches)]
    only_topic = TopicProduceData(name=topic, topic_id=topic_id, partition_data=partitions)
    return ProduceRequest(topic_data=[only_topic], **asked)


class Broker(TransactionBroker):
    def produce(self, message: ProduceRequest, version: int = 12) -> Call:
        call = self.call(HANDLER, message, version)
        self.settle()
        return call

    def codes(self, *batches: Any, version: int = 12, **fields: Any) -> list[int]:
        """The codes of an answer that nobody else has to help with."""
        return codes(self.produce(request(*batches, **fields), version))

    def partition(self, index: int = 0, topic: str = "t") -> Partition:
        found = self.replica_manager.find(topic, index)
        assert found is not None
        return found

    def settle(self) -> None:
        """End the turns that follow from each other: markers follow the outcome."""
        for _ in range(4):
            self.node.end_turn()


def codes(call: Call) -> list[int]:
    return [
        partition.error_code
        for topic in call.answer.responses
        for partition in topic.partition_responses
    ]


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.init()
    return broker


# ---- who may write


@pytest.mark.parametrize("version", JOINING)
def test_partitions_join_with_their_first_batch(broker: Broker, version: int) -> None:
    assert broker.codes(records(), records(), version=version) == [0, 0]
    assert broker.partition(0).bound(READ_COMMITTED) == 0
    assert broker.end(0, version=5).error_code == 0
    broker.settle()
    assert [broker.partition(index).bound(READ_COMMITTED) for index in (0, 1)] == [2, 2]


@pytest.mark.parametrize("version", [v for v in VERSIONS if v not in JOINING])
def test_older_clients_add_partitions_first(broker: Broker, version: int) -> None:
    not_added = ErrorCode.TRANSACTION_ABORTABLE if version == 11 else ErrorCode.INVALID_TXN_STATE
    call = broker.produce(request(records()), version)
    (reply,) = call.answer.responses[0].partition_responses
    assert (reply.error_code, reply.base_offset) == (not_added, -1)
    told = "Partition was not added to the transaction" if 8 <= version < 11 else None
    assert reply.error_message == told
    assert broker.partition().log.log_end_offset == 0
    assert broker.add(0, 0) == [0]
    assert broker.codes(records(), records(), version=version) == [0, not_added]
    assert broker.codes(records(sequence=1), version=version) == [0]


def test_an_open_transaction_asks_nobody(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert broker.codes(records()) == [0]
    monkeypatch.setattr(broker.transaction_joining, "ask", None)
    assert broker.codes(records(sequence=1)) == [0]
    assert broker.codes(records(sequence=1)) == [0]  # a duplicate


def test_verification_may_be_disabled() -> None:
    broker = Broker(transaction_partition_verification_enable="false")
    broker.init()
    assert broker.codes(records(), version=11) == [0]  # it has not joined
    assert broker.end(0).error_code == ErrorCode.INVALID_TXN_STATE
    assert broker.codes(None, records(), version=12) == [ErrorCode.INVALID_RECORD, 0]
    assert broker.end(0, version=5).error_code == 0


@pytest.mark.parametrize("version", [3, 11, 12])
def test_a_fenced_epoch(broker: Broker, version: int) -> None:
    assert broker.codes(records()) == [0]
    broker.end(0, version=5)
    broker.settle()
    assert broker.codes(records(0, 1), version=version) == [ErrorCode.INVALID_PRODUCER_EPOCH]
    assert broker.codes(None, records(0), version=version)[1] in (
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_TXN_STATE,
    )


@pytest.mark.parametrize("version", JOINING)
def test_an_id_that_nobody_knows(broker: Broker, version: int) -> None:
    found = broker.codes(records(), version=version, transactional_id="unknown")
    assert found == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]


@pytest.mark.parametrize("version", [3, 8, 12])
def test_a_coordinator_that_is_not_there(version: int) -> None:
    broker = Broker(ready=False)
    (topic,) = broker.produce(request(records()), version).answer.responses
    (reply,) = topic.partition_responses
    assert reply.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    told = (
        "Unable to verify the partition has been added to the transaction. "
        "Underlying error: COORDINATOR_NOT_AVAILABLE"
    )
    assert reply.error_message == (told if version >= 8 else None)


def test_batches_of_two_producers(broker: Broker) -> None:
    found = broker.codes(records(), records(producer_id=PRODUCER + 1))
    assert found == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
    assert broker.partition().log.log_end_offset == 0


def test_other_partitions_of_the_request(broker: Broker) -> None:
    broker.add(0, 0)
    found = broker.codes(records(), records(), records(), version=10)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found == [0, ErrorCode.INVALID_TXN_STATE, unknown]
    assert broker.codes(records(), topic="ghost") == [unknown]
    broker.node.create_topic("away", number=11, replicas=(2,), leader=2)
    assert broker.codes(records(), topic="away") == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    broker.node.create_topic("copy", number=12, replicas=(2, 1), leader=2)
    assert broker.codes(records(), topic="copy") == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    nobody = topic_id_of(77)
    assert broker.codes(records(), topic_id=nobody, version=13) == [ErrorCode.UNKNOWN_TOPIC_ID]


def test_plain_batches_beside_a_transactional_id(broker: Broker) -> None:
    assert broker.codes(batch(), records()) == [0, 0]
    plain = broker.codes(batch(), topic="t", transactional_id="unknown")
    assert plain == [0]


def test_a_transactional_batch_of_no_producer(broker: Broker) -> None:
    nobody = batch(b"x", is_transactional=True)
    assert broker.codes(nobody, records()) == [0, 0]
    assert broker.partition().bound(READ_COMMITTED) == 1  # it opens no transaction


def test_without_acks_an_error_closes_the_connection(broker: Broker) -> None:
    call = broker.produce(request(records(), acks=0), 11)
    assert isinstance(call.answer, CloseConnection)
    assert broker.produce(request(records(), acks=0), 12).answer is None
    assert broker.partition().log.log_end_offset == 1


def test_a_batch_too_heavy_for_the_loop_is_verified_too(broker: Broker) -> None:
    many = [b"x" * 1000] * 5000
    fields = {"producer_id": PRODUCER, "producer_epoch": 0, "base_sequence": 0}
    heavy = batch(*many, is_transactional=True, codec=1, **fields)
    call = broker.produce(request(heavy), 11)
    broker.validation.finish()
    assert codes(call) == [ErrorCode.TRANSACTION_ABORTABLE]
    call = broker.produce(request(heavy), 12)
    broker.validation.finish()
    broker.settle()
    assert codes(call) == [0]


# ---- waiting for the coordinator


def ask_another_broker(broker: Broker, version: int = 12) -> tuple[Call, Any]:
    """Somebody else coordinates the transaction. The call that waits, and the answer for it."""
    broker.transaction_joining._coordinator_of = lambda _: 2  # type: ignore[assignment, method-assign]
    call = broker.produce(request(records()), version)
    assert call.is_waiting
    made = broker.transactions.add_partitions_batch(broker.asked[0], 5)
    broker.settle()
    return call, (made.value if isinstance(made, Deferred) else made)()


def test_it_is_appended_when_another_broker_has_answered(broker: Broker) -> None:
    call, response = ask_another_broker(broker)
    wakes = broker.wakes
    broker.answers[0].resolve(response)
    assert broker.wakes > wakes  # a turn ends soon
    assert call.is_waiting
    broker.node.end_turn()
    assert codes(call) == [0]


@pytest.mark.parametrize(
    "version, code", [(11, ErrorCode.INVALID_TXN_STATE), (12, ErrorCode.INVALID_PRODUCER_EPOCH)]
)
def test_a_transaction_that_ended_meanwhile_is_not_opened_again(
    broker: Broker, version: int, code: int
) -> None:
    broker.add(0, 0)
    call, response = ask_another_broker(broker, version)
    assert (
        response.results_by_transaction[0]
        .topic_results[0]
        .results_by_partition[0]
        .partition_error_code
        == 0
    )
    broker.end(0, version=5 if version == 12 else 4, committed=False)
    broker.settle()
    assert broker.partition().log.log_end_offset == 1  # the marker
    broker.answers[0].resolve(response)
    assert codes(call) == [code]
    assert broker.partition().bound(READ_COMMITTED) == 1


def unfinished(broker: Broker) -> Partition:
    """The first transaction is committed, but one of its markers waits for a follower."""
    partition = broker.node.create_topic("u", number=11, replicas=(1, 2))
    broker.produce(request(records(), topic="u", acks=1))
    assert broker.end(0, version=5).error_code == 0
    broker.settle()
    return partition


def test_the_next_transaction_waits_for_the_end_of_the_last(broker: Broker) -> None:
    partition = unfinished(broker)
    call = broker.produce(request(records(epoch=1)))
    broker.advance(60)
    assert call.is_waiting
    broker.node.follower_fetch(partition, partition.log.log_end_offset)
    broker.settle()
    broker.advance(20)
    broker.settle()
    assert codes(call) == [0]


def test_it_does_not_wait_for_ever(broker: Broker) -> None:
    unfinished(broker)
    call = broker.produce(request(records(epoch=1)))
    broker.advance(99)
    assert call.is_waiting
    broker.advance(20)
    assert codes(call) == [ErrorCode.CONCURRENT_TRANSACTIONS]


def test_older_clients_do_not_wait(broker: Broker) -> None:
    unfinished(broker)
    call = broker.produce(request(records(epoch=1)), 11)
    assert not call.is_waiting
    assert codes(call) != [0]


@pytest.mark.parametrize(
    "code, version, told",
    [
        (ErrorCode.NETWORK_EXCEPTION, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 12, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.INVALID_PRODUCER_EPOCH, 11, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_what_a_client_is_told(code: ErrorCode, version: int, told: int) -> None:
    found, message = produce_error(code, version)
    assert found == told
    assert (message is not None) == (told == ErrorCode.NOT_ENOUGH_REPLICAS)
    assert message is None or message.endswith(code.name)


# ---- what readers see


def fetch(broker: Broker, offset: int = 0, topic: str = "t", isolation: int = 1) -> Call:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    message = FetchRequest(
        max_wait_ms=5000,
        min_bytes=1,
        isolation_level=isolation,
        topics=[FetchTopic(topic=topic, partitions=[asked])],
    )
    return Call(broker, FETCH, message, 12)


def entry(call: Call) -> Any:
    return call.answer.responses[0].partitions[0]


@pytest.mark.parametrize("committed", [True, False])
def test_parked_readers_wake_at_the_marker(broker: Broker, committed: bool) -> None:
    reader = fetch(broker)
    assert broker.codes(records()) == [0]
    assert reader.is_waiting
    assert not fetch(broker, isolation=0).is_waiting
    broker.end(0, version=5, committed=committed)
    broker.settle()
    found = entry(reader)
    assert (found.last_stable_offset, found.high_watermark) == (2, 2)
    aborted = [(each.producer_id, each.first_offset) for each in found.aborted_transactions]
    assert aborted == ([] if committed else [(PRODUCER, 0)])
    assert found.records


def test_the_last_stable_offset_moves_when_the_marker_is_committed(broker: Broker) -> None:
    partition = broker.node.create_topic("u", number=11, replicas=(1, 2))
    broker.produce(request(records(), topic="u", acks=1))
    broker.node.follower_fetch(partition, 1)
    reader = fetch(broker, topic="u")
    broker.end(0, version=5)
    broker.settle()
    assert partition.log.log_end_offset == 2
    assert reader.is_waiting  # the marker is not below the high watermark
    assert partition.bound(READ_COMMITTED) == 0
    broker.node.follower_fetch(partition, 2)
    assert entry(reader).last_stable_offset == 2
