"""Queries of commands about transactions: to their coordinators, and to their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykbroker.cli.admin import TRANSACTION, AdminClient, BrokerConnection, by_topic, check
from pykbroker.cli.command import CommandError
from pykbroker.errors import error_message

FENCING_TIMEOUT_MS: Final = 30_000
"""The transaction timeout that a transactional id gets which an operator fences."""
_BATCH: Final = 500

Partition = tuple[str, int]


@dataclass(slots=True, frozen=True)
class Listing:
    """A transactional id, and the broker that coordinates it."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


@dataclass(slots=True, frozen=True)
class Marker:
    """The values of a marker that aborts a producer's transaction in one partition."""

    partition: Partition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int

    def __str__(self) -> str:
        return (
            f"AbortTransactionSpec(topicPartition={shown(self.partition)}, "
            f"producerId={self.producer_id}, producerEpoch={self.producer_epoch}, "
            f"coordinatorEpoch={self.coordinator_epoch})"
        )


def shown(partition: Partition) -> str:
    """Return `topic-0`."""
    return f"{partition[0]}-{partition[1]}"


def list_transactions(
    client: AdminClient,
    *,
    duration_ms: int = -1,
    pattern: str | None = None,
    producer_ids: Sequence[int] = (),
) -> list[Listing]:
    """Return the transactional ids of all brokers, filtered by the brokers.

    `duration_ms`: only transactions that began longer ago; below 0 selects all ids.
    """
    from pykbroker.protocol.messages.list_transactions_request import ListTransactionsRequest

    request = ListTransactionsRequest(
        producer_id_filters=list(producer_ids),
        duration_filter=duration_ms,
        transactional_id_pattern=pattern or None,
    )

    def ask(broker: int) -> list[Listing]:
        response = client.node(broker).send(request)
        check(response.error_code)
        return [
            Listing(each.transactional_id, broker, each.producer_id, each.transaction_state)
            for each in response.transaction_states
        ]

    found = [each for broker in client.nodes() for each in client.retry(lambda b=broker: ask(b))]  # type: ignore[misc]
    return sorted(found, key=lambda each: (each.coordinator, each.transactional_id))


def describe_transaction(client: AdminClient, transactional_id: str) -> tuple[int, Any]:
    """Return (the broker that coordinates it, DescribeTransactions' state of it)."""
    from pykbroker.protocol.messages.describe_transactions_request import (
        DescribeTransactionsRequest,
    )

    def ask(connection: BrokerConnection) -> Any:
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        (state,) = connection.send(request).transaction_states
        check(state.error_code)
        return state

    state = client.at_coordinator(transactional_id, ask, TRANSACTION)
    return client.coordinator(transactional_id, TRANSACTION).id, state


def partitions_of(state: Any) -> list[Partition]:
    """Return the partitions of a described transaction, sorted."""
    return sorted((topic.topic, each) for topic in state.topics for each in topic.partitions)


def describe_producers(
    client: AdminClient, partitions: Iterable[Partition], broker: int | None = None
) -> dict[Partition, list[Any]]:
    """Return the active producers of each partition, sorted by id, from its leader or `broker`.

    Raises CommandError for a partition without a leader, or one that the broker does not describe.
    """
    wanted = list(partitions)
    found: dict[Partition, list[Any]] = {}
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        found |= client.retry(lambda batch=batch: _describe_some(client, batch, broker))  # type: ignore[misc]
    return found


def _describe_some(
    client: AdminClient, partitions: list[Partition], broker: int | None
) -> dict[Partition, list[Any]]:
    leaderless: list[Partition] = []
    if broker is None:
        answers, leaderless = client.ask_leaders(partitions, _producers_request)
    else:
        response = client.node(broker).send(_producers_request(by_topic(partitions)))
        answers = {
            (topic.name, each.partition_index): each
            for topic in response.topics
            for each in topic.partitions
        }
    for partition in leaderless:
        raise CommandError(f"{shown(partition)} does not exist or has no leader")
    for partition, answer in answers.items():
        message = answer.error_message or error_message(answer.error_code)
        check(answer.error_code, f"{shown(partition)}: {message}")
    return {
        partition: sorted(answer.active_producers, key=lambda each: each.producer_id)
        for partition, answer in answers.items()
    }


def _producers_request(numbers_by_topic: Mapping[str, list[int]]) -> Any:
    from pykbroker.protocol.messages.describe_producers_request import (
        DescribeProducersRequest,
        TopicRequest,
    )

    topics = [
        TopicRequest(name=topic, partition_indexes=numbers)
        for topic, numbers in numbers_by_topic.items()
    ]
    return DescribeProducersRequest(topics=topics)


def abort(client: AdminClient, marker: Marker) -> None:
    """Let the partition's leader write the marker, whatever the coordinator's state."""
    from pykbroker.protocol.messages.write_txn_markers_request import (
        WritableTxnMarker,
        WritableTxnMarkerTopic,
        WriteTxnMarkersRequest,
    )

    topic, number = marker.partition
    entry = WritableTxnMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[number])],
    )

    def attempt() -> None:
        (leader,) = client.leaders([marker.partition])
        if leader == -1:
            raise CommandError(f"{shown(marker.partition)} does not exist or has no leader")
        response = client.node(leader).send(WriteTxnMarkersRequest(markers=[entry]))
        for written in response.markers:
            for answered in written.topics:
                for each in answered.partitions:
                    check(each.error_code)

    client.retry(attempt)


def fence(client: AdminClient, transactional_id: str) -> None:
    """Raise the epoch of a transactional id, which aborts its open transaction."""
    from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest

    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=FENCING_TIMEOUT_MS
    )

    def ask(connection: BrokerConnection) -> None:
        check(connection.send(request).error_code)

    client.at_coordinator(transactional_id, ask, TRANSACTION)
