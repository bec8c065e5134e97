"""Open transactions that no coordinator will end (`transactions find-hanging`).

A partition knows which producers have a transaction open in it, and the time of the last record of
each. If that is longer ago than any transaction may last, and the producer's coordinator does not
know the transaction, or that it includes the partition, then nothing will end it: the last stable
offset no longer advances.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pykbroker.cli.admin import AdminClient, ServerError, check
from pykbroker.cli.command import CommandError
from pykbroker.cli.transaction_queries import (
    Partition,
    describe_producers,
    describe_transaction,
    list_transactions,
    partitions_of,
)
from pykbroker.errors import ErrorCode
from pykbroker.values import NamedTuple


class OpenTransaction(NamedTuple):
    """A transaction that is open in a partition; `producer` as DescribeProducers has it."""

    partition: Partition
    producer: Any


def find_hanging(
    client: AdminClient, partitions: Iterable[Partition], broker: int | None, before_ms: int
) -> list[OpenTransaction]:
    """Return the hanging transactions whose last record is older than `before_ms`."""
    candidates = [
        OpenTransaction(partition, producer)
        for partition, producers in sorted(describe_producers(client, partitions, broker).items())
        for producer in producers
        if producer.current_txn_start_offset >= 0 and producer.last_timestamp < before_ms
    ]
    if not candidates:
        return []
    expected = _known_partitions(client, {each.producer.producer_id for each in candidates})
    return [
        each
        for each in candidates
        if each.partition not in expected.get(each.producer.producer_id, ())
    ]


def _known_partitions(client: AdminClient, producer_ids: set[int]) -> dict[int, list[Partition]]:
    """Return by producer id the partitions into which a coordinator will write markers."""
    known: dict[int, list[Partition]] = {}
    for listing in list_transactions(client, producer_ids=sorted(producer_ids)):
        try:
            _, state = describe_transaction(client, listing.transactional_id)
        except ServerError as error:
            if error.code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                raise
        else:
            known[listing.producer_id] = partitions_of(state)
    return known


def partitions_to_search(
    client: AdminClient, topic: str | None, broker: int | None
) -> list[Partition]:
    """Return the partitions of a topic, or of all, that have a replica on the broker (or on any).

    Raises CommandError if there is no such broker.
    """
    found: list[Partition] = []
    metadata = client.metadata(None if topic is None else [topic])
    brokers = sorted(each.node_id for each in metadata.brokers)
    if broker is not None and broker not in brokers:
        known = ", ".join(map(str, brokers))
        raise CommandError(f"Broker {broker} is not available; the brokers are {known}")
    for described in metadata.topics:
        check(described.error_code)
        found += [
            (described.name, each.partition_index)
            for each in described.partitions
            if broker is None or broker in each.replica_nodes
        ]
    return found
