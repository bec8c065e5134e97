"""AddPartitionsToTxn as a whole: every transaction of a request, and the form of its response.
`join` is the same without messages, for one transaction and partitions of the coordinator's node.

A client asks for one transaction (versions 0 to 3). A broker asks for several (4 and later), to add
partitions or only to learn whether they have joined (`verify_only`). A transaction of whose
partitions one does not exist gets UNKNOWN_TOPIC_OR_PARTITION for that, OPERATION_NOT_ATTEMPTED for
the others, and nothing is added. So it is with TOPIC_AUTHORIZATION_FAILED for an internal topic
that a client names: the offsets of a group join by AddOffsetsToTxn.
Source: Kafka's `KafkaApis.handleAddPartitionsToTxnRequest`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pykbroker.coordinator.transaction.shard import Addition, Reply
from pykbroker.coordinator.transaction.transaction import EPOCH_BUMPING, Partitions
from pykbroker.deferred import Deferred, gather, then
from pykbroker.environment.slices import Breathe, go_on, paced
from pykbroker.errors import ErrorCode
from pykbroker.kraft.topic_name import INTERNAL_TOPICS
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from pykbroker.protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.kraft.image import MetadataImage

FENCED_FROM = 2
FROM_BROKERS = 4

MakeResult = Callable[[], AddPartitionsToTxnResult]
MakeResponse = Callable[[], AddPartitionsToTxnResponse]
Add = Callable[[Addition], Reply | Deferred]
Verify = Callable[[Addition], dict[int, Partitions] | Deferred]


def add_partitions(
    add: Add,
    verify: Verify,
    image: MetadataImage,
    message: AddPartitionsToTxnRequest,
    version: int,
    breathe: Breathe = go_on,
) -> MakeResponse | Deferred:
    """Process the request; return what makes the response, or a Deferred of that, once every
    transaction is answered.

    `breathe` is called between partitions (`environment/slices.py`).
    """
    transactions = asked_transactions(message, version)
    parts = (
        _add(add, verify, image, asked, version, breathe) for asked in paced(transactions, breathe)
    )

    return gather(parts, lambda made: partial(_response, made, version, breathe))


def join(
    add: Add, verify: Verify, image: MetadataImage, addition: Addition, *, verify_only: bool
) -> dict[int, Partitions] | Deferred:
    """Let partitions join, or return whether they have joined (`verify_only`): the partitions by
    error code, as AddPartitionsToTxn of a broker returns them.
    """
    partitions = addition.partitions
    unknown = _refused(image, partitions, is_client=False)
    if unknown:
        others = {each: None for each in partitions if each not in unknown}
        found = {int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION): dict.fromkeys(unknown)}
        return found | {int(ErrorCode.OPERATION_NOT_ATTEMPTED): others}
    if not addition.transactional_id:
        return {int(ErrorCode.INVALID_REQUEST): partitions}
    if verify_only:
        return verify(addition)
    return then(add(addition), lambda reply: {reply.code: partitions})


def _response(
    made: Sequence[MakeResult], version: int, breathe: Breathe
) -> AddPartitionsToTxnResponse:
    results = [make() for make in paced(made, breathe)]
    if version < FROM_BROKERS:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0].topic_results)
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def asked_transactions(
    message: AddPartitionsToTxnRequest, version: int
) -> Sequence[AddPartitionsToTxnTransaction]:
    """Return the transactions of a request, in the form of version 4."""
    if version >= FROM_BROKERS:
        return message.transactions
    return [
        AddPartitionsToTxnTransaction(
            transactional_id=message.v3_and_below_transactional_id,
            producer_id=message.v3_and_below_producer_id,
            producer_epoch=message.v3_and_below_producer_epoch,
            topics=message.v3_and_below_topics,
        )
    ]


def same_code(
    topics: Sequence[AddPartitionsToTxnTopic],
    transactional_id: str,
    code: int,
    breathe: Breathe = go_on,
) -> AddPartitionsToTxnResult:
    """Return the same code for every requested partition; topics without partitions are kept."""
    return AddPartitionsToTxnResult(
        transactional_id=transactional_id,
        topic_results=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=index, partition_error_code=int(code)
                    )
                    for index in paced(topic.partitions, breathe)
                ],
            )
            for topic in paced(topics, breathe)
        ],
    )


def _add(
    add: Add,
    verify: Verify,
    image: MetadataImage,
    asked: AddPartitionsToTxnTransaction,
    version: int,
    breathe: Breathe,
) -> MakeResult | Deferred:
    transactional_id = asked.transactional_id
    partitions: Partitions = dict.fromkeys(_partitions(asked.topics, breathe))
    refused = _refused(image, paced(partitions, breathe), is_client=version < FROM_BROKERS)
    if refused:
        codes = dict.fromkeys(partitions, int(ErrorCode.OPERATION_NOT_ATTEMPTED))
        return partial(_result, transactional_id, paced((codes | refused).items(), breathe))
    if not transactional_id:
        code = int(ErrorCode.INVALID_REQUEST)
        if asked.verify_only:  # answered by partition, like every verification
            codes = dict.fromkeys(partitions, code)
            return partial(_result, transactional_id, paced(codes.items(), breathe))
        return partial(same_code, asked.topics, transactional_id, code, breathe)
    client_version = EPOCH_BUMPING if version >= FROM_BROKERS else 0
    addition = Addition(
        transactional_id, asked.producer_id, asked.producer_epoch, partitions, client_version
    )
    if asked.verify_only:

        def verified(found: dict[int, Partitions]) -> MakeResult:
            codes = {each: code for code, theirs in found.items() for each in theirs}
            ordered = ((each, codes[each]) for each in paced(partitions, breathe))
            return partial(_result, transactional_id, ordered)

        return then(verify(addition), verified)

    def added(reply: Reply) -> MakeResult:
        code = reply.code
        if code == ErrorCode.PRODUCER_FENCED and version < FENCED_FROM:
            code = int(ErrorCode.INVALID_PRODUCER_EPOCH)
        return partial(same_code, asked.topics, transactional_id, code, breathe)

    return then(add(addition), added)


def _refused(
    image: MetadataImage, partitions: Iterable[TopicPartition], *, is_client: bool
) -> dict[TopicPartition, int]:
    """Return the partitions that cannot join, with the reason."""
    refused = {}
    for each in partitions:
        if is_client and each.topic in INTERNAL_TOPICS:
            refused[each] = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        elif image.partition(*each) is None:
            refused[each] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return refused


def _partitions(
    topics: Iterable[AddPartitionsToTxnTopic], breathe: Breathe
) -> Iterator[TopicPartition]:
    for topic in paced(topics, breathe):
        for index in paced(topic.partitions, breathe):
            yield TopicPartition(topic.name, index)


def _result(
    transactional_id: str, codes: Iterable[tuple[TopicPartition, int]]
) -> AddPartitionsToTxnResult:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for (name, index), code in codes:
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = AddPartitionsToTxnTopicResult(name=name)
        topic.results_by_partition.append(
            AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=int(code))
        )
    return AddPartitionsToTxnResult(
        transactional_id=transactional_id, topic_results=list(topics.values())
    )
