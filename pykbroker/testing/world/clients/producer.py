"""A producer: it sends batches to some partitions, each at most TRIES times until it is answered.

An idempotent one numbers its batches (InitProducerId): the ledger then checks that no record is
stored twice, and the order of the records of one producer id. If it has to begin anew with
another id, it does not repeat what is unanswered. `acks` is -1 or 1; where nodes replicate, a
leader that acknowledged with 1 may take what nobody else has with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.client import GRACE_US, PATIENCE_US, RETRIABLE
from pykbroker.testing.world.clients.routed_client import RoutedClient
from pykbroker.testing.world.ledger import ID_HEADER, Attempt, PartitionLedger
from pykbroker.testing.world.world import World
from pykbroker.types import Peer, TopicPartition

CODECS = (NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD)
FIRST_WITH_ZSTD = 7
TRIES = 25
BATCHES_WHEN_CALM = 6

# After these an idempotent producer begins anew with another id: the node has lost, by a power
# failure, what it knew of the old one.
BEGIN_ANEW = frozenset(
    (
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    )
)


@dataclass(slots=True)
class Batch:
    """Records that are sent together, and the batch that carries them."""

    ledger: PartitionLedger
    topic: TopicPromise
    index: int
    attempts: list[Attempt]
    payload: bytes
    least_version: int
    is_pipelined: bool = False
    """Another batch of its partition was sent behind it."""
    is_answered: bool = False

    @property
    def partition(self) -> TopicPartition:
        """Where it goes."""
        return TopicPartition(self.topic.name, self.index)


@dataclass(slots=True)
class ProducerIdentity:
    """What InitProducerId gave, and the next sequence of each partition."""

    producer_id: int
    epoch: int
    sequences: dict[tuple[str, int], int] = field(default_factory=dict)


class ProducerClient(RoutedClient):
    """A scripted producer. `topics` are those that it writes to."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        topics: Sequence[str],
        batches: int,
    ) -> None:
        super().__init__(world, name, bootstrap)
        self._catalog = catalog
        self._topics = list(topics)
        self._batches_left = batches
        self._is_idempotent = self.dice.randrange(4) > 0
        self._acks = -1 if self._is_idempotent or self.dice.one_in(2) else 1
        self._identity: ProducerIdentity | None = None
        self._number = 0
        self.acknowledged = 0

    async def script(self) -> None:
        """Send until the number of batches is reached, and some more when the faults are over, but
        no more once it is stopped.
        """
        await self._work()
        while not self.world.is_calm(GRACE_US):
            await self.pause(200, 1_000)
        self._batches_left = BATCHES_WHEN_CALM
        await self._work()

    async def _work(self) -> None:
        while self._batches_left > 0 and not self.is_stopping:
            if self._is_idempotent and self._identity is None:
                await self._begin()
                continue
            batches = [self._make_batch() for _ in range(self.dice.choice((1, 1, 2, 3)))]
            for number, batch in enumerate(batches):
                later = batches[number + 1 :]
                batch.is_pipelined = any(at.ledger is batch.ledger for at in later)
            self._batches_left -= len(batches)
            await self._send_all(batches)
            await self.pause(0, 120)

    async def _begin(self) -> None:
        async def attempt() -> Any:
            response = await self.ask(
                InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000),
                self.version_of("InitProducerId"),
            )
            if response.error_code:
                raise KafkaError(response.error_code)
            return response

        response = await self.ask_again(attempt)
        if response is not None:
            self._catalog.producer_id_given(response.producer_id, response.producer_epoch)
            self._identity = ProducerIdentity(response.producer_id, response.producer_epoch)
            self.note(f"is producer {response.producer_id}")

    # ---------------------------------------------------------------- batches

    def _make_batch(self) -> Batch:
        topic = self._catalog.topics[self.dice.choice(self._topics)]
        index = self.dice.randrange(topic.partitions)
        ledger = topic.ledgers[index]
        attempts = [self._make_attempt(topic) for _ in range(self.dice.choice((1, 1, 2, 5)))]
        for attempt in attempts:
            ledger.attempt(attempt)
        codec = self.dice.choice(CODECS)
        payload = self._encode(topic, index, attempts, codec)
        least_version = FIRST_WITH_ZSTD if codec == ZSTD else 0
        return Batch(ledger, topic, index, attempts, payload, least_version)

    def _make_attempt(self, topic: TopicPromise) -> Attempt:
        self._number += 1
        identity = f"{self.name}-{self._number}".encode()
        key = b"key%d" % self.dice.randrange(4) if topic.rules.is_compacted else None
        is_tombstone = topic.rules.is_compacted and self.dice.one_in(5)
        filler = b"." * self.dice.choice((0, 10, 10, 300, 3_000))
        return Attempt(
            identity=identity,
            producer=self._stream(),
            number=self._number,
            key=key,
            value=None if is_tombstone else identity + filler,
            timestamp=self.environment.clock.wall_ms(),
            is_once=self._is_idempotent,
        )

    def _may_be_forgotten(self, batch: Batch) -> bool:
        """Return whether a node may not recognise a batch, without a power failure.

        Only the last batch of a producer is in its snapshots. A batch that was sent together with
        later ones is recognised as long as the log still has it.

        A replica that was away may have missed even the last one: what the leader has deleted
        meanwhile does not reach it.
        """
        rules = batch.topic.rules
        is_deletable = rules.retention_ms >= 0 or batch.ledger.deleted_before > 0
        if is_deletable and not self.knows_one_node:
            return True
        return batch.is_pipelined and (is_deletable or rules.is_compacted)

    def _stream(self) -> str:
        """Return the name for whose records the ledger checks the order, if they are idempotent:
        one for each producer id, because a late batch of an old id may come after those of the
        next.
        """
        identity = self._identity
        return self.name if identity is None else f"{self.name}/{identity.producer_id}"

    def _encode(
        self, topic: TopicPromise, index: int, attempts: list[Attempt], codec: int
    ) -> bytes:
        records = [
            (each.key, each.value, each.timestamp, [(ID_HEADER, each.identity)])
            for each in attempts
        ]
        identity = self._identity
        if identity is None:
            return bytes(build_batch(records, codec=codec))
        key = (topic.name, index)
        sequence = identity.sequences.get(key, 0)
        identity.sequences[key] = sequence + len(records)
        return bytes(
            build_batch(
                records,
                codec=codec,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                base_sequence=sequence,
            )
        )

    # ---------------------------------------------------------------- sending

    async def _send_all(self, batches: list[Batch]) -> None:
        """Send the batches, one request each and all at once; then again what is unanswered.

        The order of a partition's unanswered ones stays: later ones are only sent behind earlier
        ones.
        """
        is_calm_before = self.world.is_calm(PATIENCE_US)
        for _ in range(TRIES):
            if all(batch.is_answered for batch in batches):
                return
            ways = await self._ways_of(batches)
            waiting = [batch for batch, _ in ways]
            is_calm = self.world.is_calm(GRACE_US)
            is_excused = not is_calm
            failures_before = self._catalog.power_failures
            sent = [self._send(batch, peer) for batch, peer in ways]
            for (batch, peer), outcome in zip(ways, sent, strict=True):
                try:
                    response = await outcome
                except KafkaError as failure:
                    self.forget_leaders()
                    connection = f"produce {peer.node_id}"
                    is_excused = is_excused or not self.is_unexpected(failure, connection)
                    if is_calm and not is_excused:
                        raise self.violated(
                            f"{batch.attempts[0].identity!r} is not answered although nothing "
                            f"fails any more: {failure.message}"
                        ) from failure
                    self.note(f"got no response for {batch.attempts[0].identity!r}: {failure.code}")
                    continue
                if self._catalog.power_failures != failures_before:
                    continue
                earlier = waiting[: waiting.index(batch)]
                is_first = all(at.is_answered for at in earlier if at.ledger is batch.ledger)
                answer = response.responses[0].partition_responses[0]
                self._take(batch, answer, peer.node_id, is_first)
            if self._is_idempotent and self._identity is None:
                return  # what is unanswered may or may not be there
            if self.is_stopping:
                return
            if any(not batch.is_answered for batch in batches):
                await self.pause(20, 300)
        if is_calm_before and any(not batch.is_answered for batch in batches):
            raise self.violated("batches are not accepted although no faults are active")
        self._identity = None  # gaps in the sequence of a partition are not for others to fill

    async def _ways_of(self, batches: list[Batch]) -> list[tuple[Batch, Peer]]:
        """Return the unanswered batches whose partitions have known leaders, and these."""
        waiting = [batch for batch in batches if not batch.is_answered]
        if self.knows_one_node:
            peer = self.any_node()
            return [(batch, peer) for batch in waiting]
        leaders = await self.leaders_of({batch.partition: None for batch in waiting})
        leader_of = {each: peer for peer, owned in leaders.items() for each in owned}
        return [(at, leader_of[at.partition]) for at in waiting if at.partition in leader_of]

    def _send(self, batch: Batch, peer: Peer) -> Deferred:
        version = self.version_of("Produce", batch.least_version)
        message = ProduceRequest(
            acks=self._acks,
            timeout_ms=1_500,
            topic_data=[
                TopicProduceData(
                    name=batch.topic.name,
                    topic_id=batch.topic.topic_id,
                    partition_data=[PartitionProduceData(index=batch.index, records=batch.payload)],
                )
            ],
        )
        deadline_ms = self.environment.clock.now_ms() + 2_000
        return self.pool.send(peer, message, deadline_ms, purpose="produce", max_version=version)

    def _take(self, batch: Batch, answer: Any, node_id: int, is_first: bool) -> None:
        """Take an answer of a node; `is_first`: all earlier batches of the partition are answered.
        Raises Violation.
        """
        code = answer.error_code
        name = f"{batch.ledger.name} {batch.attempts[0].identity!r}+{len(batch.attempts)}"
        if code == ErrorCode.NONE:
            self.note(f"{name} acknowledged at {answer.base_offset}")
            batch.is_answered = True
            self.acknowledged += len(batch.attempts)
            if self._acks == -1 or self.knows_one_node:
                for delta, attempt in enumerate(batch.attempts):
                    batch.ledger.acked(attempt.identity, answer.base_offset + delta)
        elif code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER and self._is_idempotent:
            self.note(f"{name} was already stored")
            batch.is_answered = True
        elif code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not is_first:
            self.note(f"{name} waits for an earlier batch")
        elif code in BEGIN_ANEW and self._is_idempotent:
            self.note(f"{name} begins anew: {code}")
            may_lag = not batch.ledger.is_led_by(node_id)  # it was paused, and led before that
            if not (may_lag or batch.topic.may_lose or self._may_be_forgotten(batch)):
                raise self.violated(f"{name}: the node forgot this producer: {code}")
            self._identity = None
        elif code not in RETRIABLE:
            raise self.violated(f"{name} was refused with {code} {answer.error_message}")
        else:
            self.forget_leaders()
            self.note(f"{name} failed with {code}")
