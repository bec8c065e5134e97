"""One producer of transaction_script: its id, epoch and sequences, and its requests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from pykbroker.protocol.messages import (
    add_offsets_to_txn_request,
    add_partitions_to_txn_request,
    end_txn_request,
    init_producer_id_request,
    offset_fetch_request,
    produce_request,
    txn_offset_commit_request,
)
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from tests.interop.conversation import UNKNOWN_ID
from tests.interop.transaction_play import T0, Play

TIMEOUT_MS = 600_000
IMPLICIT = 12
"""From this version of Produce on, a write adds its partition to the transaction."""
Topics = dict[str, Sequence[int]]


class Producer:
    """What a client with this transactional id knows of itself."""

    def __init__(self, play: Play, name: str | None) -> None:
        self.play = play
        self.name = name
        self.id = -1
        self.epoch = -1
        self._sequences: dict[tuple[str, int], int] = {}

    # ---- InitProducerId

    def init(
        self, label: str, version: int = 5, timeout_ms: int = TIMEOUT_MS, **fields: Any
    ) -> Producer:
        """Get an id and an epoch; on an error keep what there was."""
        request = init_producer_id_request.InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=timeout_ms, **fields
        )
        answer = self.play.ask(label, "InitProducerId", version, request)
        if answer.error_code == 0:
            self._become(answer.producer_id, answer.producer_epoch)
        return self

    def _become(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.id, self.epoch):
            self._sequences.clear()
        self.id, self.epoch = producer_id, epoch

    # ---- the partitions of a transaction

    def add(self, label: str, version: int, topics: Topics, **fields: Any) -> Any:
        """AddPartitionsToTxn of one transaction; `fields`: name, id, epoch, verify_only."""
        asked = [
            add_partitions_to_txn_request.AddPartitionsToTxnTopic(
                name=topic, partitions=list(numbers)
            )
            for topic, numbers in topics.items()
        ]
        name, producer_id, epoch = self._identity(fields)
        if version < 4:
            request = add_partitions_to_txn_request.AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=name,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=epoch,
                v3_and_below_topics=asked,
            )
        else:
            request = add_partitions_to_txn_request.AddPartitionsToTxnRequest(
                transactions=[
                    add_partitions_to_txn_request.AddPartitionsToTxnTransaction(
                        transactional_id=name,
                        producer_id=producer_id,
                        producer_epoch=epoch,
                        topics=asked,
                        **fields,
                    )
                ]
            )
        return self.play.ask(label, "AddPartitionsToTxn", version, request)

    def _identity(self, fields: dict[str, Any]) -> tuple[Any, int, int]:
        return (
            fields.pop("name", self.name),
            fields.pop("id", self.id),
            fields.pop("epoch", self.epoch),
        )

    def produce(
        self, label: str, version: int, topic: str = "ledger", partition: int = 0, **fields: Any
    ) -> Any:
        """One transactional record; an error leaves the sequence as it was.

        `fields`: name (of the request), id, epoch, sequence, transactional.
        """
        name, producer_id, epoch = self._identity(fields)
        at = (topic, partition)
        sequence = fields.get("sequence", self._sequences.get(at, 0))
        records = build_batch(
            [(b"k", label.encode(), T0, ())],
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=fields.get("transactional", True),
        )
        request = produce_request.ProduceRequest(
            transactional_id=name,
            acks=-1,
            timeout_ms=5000,
            topic_data=[
                produce_request.TopicProduceData(
                    name=topic,
                    topic_id=self.play.ids.get(topic, UNKNOWN_ID),
                    partition_data=[
                        produce_request.PartitionProduceData(
                            index=partition, records=bytes(records)
                        )
                    ],
                )
            ],
        )
        answer = self.play.ask(label, "Produce", version, request)
        if answer.responses[0].partition_responses[0].error_code == 0:
            self._sequences[at] = sequence + 1
        return answer

    def begin(self, *partitions: int, topic: str = "ledger") -> Producer:
        """A transaction with a record in each partition, added to it beforehand."""
        self.add("begin", 3, {topic: partitions})
        for partition in partitions:
            self.produce("begin", 11, topic, partition)
        return self

    # ---- offsets

    def add_offsets(self, label: str, version: int, group: str, **fields: Any) -> Any:
        name, producer_id, epoch = self._identity(fields)
        request = add_offsets_to_txn_request.AddOffsetsToTxnRequest(
            transactional_id=name, producer_id=producer_id, producer_epoch=epoch, group_id=group
        )
        return self.play.ask(label, "AddOffsetsToTxn", version, request)

    def commit_offsets(
        self,
        label: str,
        version: int,
        group: str,
        offsets: Sequence[tuple[str, int, int]] = (("ledger", 0, 1),),
        **fields: Any,
    ) -> Any:
        """TxnOffsetCommit; `fields`: name, id, epoch, metadata, and those of the request."""
        name, producer_id, epoch = self._identity(fields)
        metadata = fields.pop("metadata", "m")
        if version >= 3:
            fields = {"member_id": ""} | fields
        request = txn_offset_commit_request.TxnOffsetCommitRequest(
            transactional_id=name,
            group_id=group,
            producer_id=producer_id,
            producer_epoch=epoch,
            topics=[
                txn_offset_commit_request.TxnOffsetCommitRequestTopic(
                    name=topic,
                    topic_id=self.play.ids.get(topic, UNKNOWN_ID),
                    partitions=[
                        txn_offset_commit_request.TxnOffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=metadata,
                        )
                        for _, partition, offset in committed
                    ],
                )
                for topic, committed in groupby(offsets, key=itemgetter(0))
            ],
            **fields,
        )
        return self.play.ask(label, "TxnOffsetCommit", version, request)

    # ---- the end

    def end(self, label: str, version: int, committed: bool, **fields: Any) -> Any:
        """EndTxn, and wait for its markers; from version 5 on with the id and epoch it gives."""
        name, producer_id, epoch = self._identity(fields)
        request = end_txn_request.EndTxnRequest(
            transactional_id=name,
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=committed,
        )
        answer = self.play.ask(label, "EndTxn", version, request)
        if answer.error_code == 0:
            if answer.producer_id != -1:
                self._become(answer.producer_id, answer.producer_epoch)
            if fields.get("waits", True):
                self.play.settle(name)
        return answer


def fetch_offsets(play: Play, label: str, group: str, *, stable: bool, version: int = 9) -> None:
    """What the group has committed in the first partitions of the ledger."""
    if version < 8:
        request: Message = offset_fetch_request.OffsetFetchRequest(
            group_id=group,
            topics=[
                offset_fetch_request.OffsetFetchRequestTopic(
                    name="ledger", partition_indexes=[0, 1]
                )
            ],
            require_stable=stable,
        )
    else:
        topic = offset_fetch_request.OffsetFetchRequestTopics(
            name="ledger", topic_id=play.ids["ledger"], partition_indexes=[0, 1]
        )
        request = offset_fetch_request.OffsetFetchRequest(
            groups=[offset_fetch_request.OffsetFetchRequestGroup(group_id=group, topics=[topic])],
            require_stable=stable,
        )
    play.ask(label, "OffsetFetch", version, request)
