"""The requests of a transactional producer, and how it handles the answers.

    response                                reaction of the producer
    success                                 continues
    a retriable code, or no response        sends the same request again
    fenced, a new epoch                     stops being used (`Fenced`)
    the transaction cannot be committed     aborts it (`MustAbort`); after EndTxn, stops being used
    no success in TRIES tries               disappears (`Vanished`); long after the faults this is
                                            a violation, unless a power failure explains it
    unknown to a former coordinator         disappears

While there are faults it also disappears at random. A code that no event explains (such as a
replaced producer, a timeout or a power failure) is a violation; so is success in a transaction of
a producer that was replaced before.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.compression import GZIP, LZ4, NONE
from pykbroker.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from pykbroker.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from pykbroker.protocol.messages.end_txn_request import EndTxnRequest
from pykbroker.protocol.messages.init_producer_id_request import InitProducerIdRequest
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.client import PATIENCE_US, RETRIABLE
from pykbroker.testing.world.clients.offset_requests import fetched_offset, offset_fetch
from pykbroker.testing.world.clients.routed_client import GROUP, TRANSACTION
from pykbroker.testing.world.clients.transactional_client import TransactionalClient
from pykbroker.testing.world.ledger import ID_HEADER
from pykbroker.testing.world.transaction_ledger import (
    ProducerInstance,
    SentTransaction,
    TransactionLedger,
)
from pykbroker.testing.world.world import World
from pykbroker.types import Peer

TRIES = 30
ONE_IN_VANISHES = 40
CODECS = (NONE, NONE, GZIP, LZ4)
TIMEOUTS_MS = (700, 1_500, 6_000)
LAST_BUMPING_BY_CLIENT = 4  # of EndTxn; from 5 on the coordinator takes the next epoch
FIRST_THAT_BUMPS = 3  # of InitProducerId, as KIP-360 has it
FIRST_WITH_STABLE_OFFSETS = 7

AGAIN = RETRIABLE | {ErrorCode.CONCURRENT_TRANSACTIONS}
# Those after which nothing of the request was done, nor ever will be.
NOT_DONE = frozenset((ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
FENCED = frozenset(
    (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    )
)
ABORTABLE = frozenset(
    (
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
    )
)


class Fenced(Exception):
    """The producer was replaced, or its transaction was aborted: it must begin anew."""


class MustAbort(Exception):
    """The transaction cannot be committed."""


class Vanished(Exception):
    """The client crashes here, or gives up."""


class TransactorRequests(TransactionalClient):
    """The requests of a transactional producer. `level` is the finalised transaction.version."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        topic: TopicPromise,
        ledger: TransactionLedger,
        transactional_id: str,
        level: int,
    ) -> None:
        super().__init__(world, name, bootstrap, catalog, topic, ledger)
        self.transactional_id = transactional_id
        self.group = f"group-of-{transactional_id}"
        self.sender = 0
        """How many producers this client has been: each has connections of its own."""
        self.coordinators_move: Callable[[], bool] = lambda: False
        """Whether a broker may still act as coordinator although another one is."""
        self.committed = 0
        self._level = level
        self._number = 0

    # ---------------------------------------------------------------- the ways of an answer

    async def _until_done(
        self,
        what: str,
        transaction: SentTransaction | None,
        attempt: Callable[[], Coroutine[Deferred, Any, int]],
    ) -> None:
        """Repeat an attempt until its answer is 0, at most TRIES times. Raises Fenced, MustAbort or
        Vanished otherwise, or Violation.
        """
        for _ in range(TRIES):
            was_replaced = self._is_replaced(transaction)
            is_moving = self.coordinators_move()
            try:
                code = await attempt()
            except KafkaError as failure:
                code = failure.code
            if not code:
                # Unless a power failure has taken meanwhile what replaced it.
                if was_replaced and self._is_replaced(transaction):
                    raise self.violated(f"{what} of {transaction}, which was replaced, succeeds")
                return
            self.note(f"{what}: {ErrorCode(code).name}")
            is_moving = is_moving or self.coordinators_move()
            if is_moving and code == ErrorCode.INVALID_PRODUCER_ID_MAPPING:
                raise Vanished(f"{what}: the former coordinator does not know the producer")
            self._judge(what, transaction, code)
            await self._before_next_try()
        self._give_up(what)

    def _is_replaced(self, transaction: SentTransaction | None) -> bool:
        return transaction is not None and self.ledger.is_replaced(transaction.instance)

    def _judge(self, what: str, transaction: SentTransaction | None, code: int) -> None:
        if code in AGAIN:
            return
        is_explained = transaction is not None and transaction.may_be_over(self.world.now_us)
        if code in FENCED and is_explained:
            raise Fenced(f"{what}: {ErrorCode(code).name}")
        # From transaction.version 2 on the epoch before the present one may repeat its EndTxn.
        is_late_end = what == "EndTxn" and code == ErrorCode.INVALID_TXN_STATE and is_explained
        is_excused = transaction is not None and (
            transaction.is_excused or self.ledger.is_given_again(transaction.instance)
        )
        is_out_of_order = code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if is_out_of_order and transaction is not None and transaction.instance.has_gaps:
            transaction.instance.must_bump = is_excused = True
        if is_late_end or (code in ABORTABLE and is_excused):
            raise MustAbort(f"{what}: {ErrorCode(code).name}")
        raise self.violated(f"{what} of {transaction} is refused: {ErrorCode(code).name}")

    async def _before_next_try(self) -> None:
        self.forget_leaders()
        self.forget_coordinators()
        if self.is_stopping or (not self.world.is_calm() and self.dice.one_in(ONE_IN_VANISHES)):
            raise Vanished("between two tries")
        await self.pause(10, 200)

    def _give_up(self, what: str) -> None:
        if self.world.is_calm(PATIENCE_US) and not self.ledger.may_hang:
            raise self.violated(f"{what} is not done although no faults are active")
        raise Vanished(f"{what} got no response")

    def _vanish_sometimes(self, where: str) -> None:
        if not self.world.is_calm() and self.dice.one_in(ONE_IN_VANISHES):
            raise Vanished(where)

    @property
    def _purpose(self) -> str:
        return f"producer {self.sender}"

    async def _ask(self, kind: int, message: Any, version: int) -> Any:
        key = self.transactional_id if kind == TRANSACTION else self.group
        return await self.ask_coordinator(kind, key, message, version, self._purpose)

    # ---------------------------------------------------------------- producer ids

    async def initialise(self) -> ProducerInstance:
        """Become the producer of the transactional id. Raises Vanished."""
        instance = ProducerInstance(
            self.transactional_id,
            f"{self.name}/{self.sender}",
            timeout_ms=self.dice.choice(TIMEOUTS_MS),
            joins_with_batch=self._level >= 2 and self.dice.randrange(4) > 0,
        )
        await self._initialise(instance, 0)
        return instance

    async def bump(self, instance: ProducerInstance) -> None:
        """Go on with the next epoch, after an error (KIP-360). Raises Fenced or Vanished."""
        await self._initialise(instance, FIRST_THAT_BUMPS)
        instance.must_bump = False

    async def _initialise(self, instance: ProducerInstance, least_version: int) -> None:
        version = self.version_between("InitProducerId", least_version, 5)
        message = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=instance.timeout_ms,
            producer_id=instance.producer_id,
            producer_epoch=instance.epoch,
        )
        names_itself = instance.producer_id >= 0

        async def attempt() -> int:
            await self.coordinator(TRANSACTION, self.transactional_id)
            self.ledger.asks_for_id(self.transactional_id)
            response = await self._ask(TRANSACTION, message, version)
            if response.error_code:
                self.ledger.id_refused(self.transactional_id)
                if names_itself and response.error_code in FENCED:
                    raise Fenced(ErrorCode(response.error_code).name)
                return int(response.error_code)
            instance.producer_id = response.producer_id
            instance.epoch = response.producer_epoch
            instance.sequences.clear()
            self.ledger.given(instance)
            self.note(f"is producer {instance.producer_id} with epoch {instance.epoch}")
            return 0

        await self._until_done("InitProducerId", None, attempt)

    # ---------------------------------------------------------------- what joins

    async def add_partitions(
        self, instance: ProducerInstance, transaction: SentTransaction, indexes: Iterable[int]
    ) -> None:
        """Add those partitions that have not joined."""
        missing = [index for index in indexes if index not in transaction.joined]
        if not missing:
            return
        version = self.version_between("AddPartitionsToTxn", 0, 3)
        message = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=instance.producer_id,
            v3_and_below_producer_epoch=instance.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=self.topic.name, partitions=missing)],
        )

        async def attempt() -> int:
            response = await self._ask(TRANSACTION, message, version)
            codes = [
                int(partition.partition_error_code)
                for topic in response.results_by_topic_v3_and_below
                for partition in topic.results_by_partition
            ]
            return max(codes)

        await self._until_done("AddPartitionsToTxn", transaction, attempt)
        transaction.joined.update(missing)
        self._vanish_sometimes("behind AddPartitionsToTxn")

    async def add_offsets(self, instance: ProducerInstance, transaction: SentTransaction) -> None:
        """Add the group."""
        version = self.version_between("AddOffsetsToTxn", 0, 4)
        message = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=instance.producer_id,
            producer_epoch=instance.epoch,
            group_id=self.group,
        )

        async def attempt() -> int:
            await self.coordinator(GROUP, self.group)  # creates the topic of offsets
            return int((await self._ask(TRANSACTION, message, version)).error_code)

        await self._until_done("AddOffsetsToTxn", transaction, attempt)
        self._vanish_sometimes("behind AddOffsetsToTxn")

    async def commit_offsets(
        self, instance: ProducerInstance, transaction: SentTransaction
    ) -> None:
        """Commit an offset that nobody has committed before."""
        joins = instance.joins_with_batch
        version = self.version_between("TxnOffsetCommit", 5 if joins else 0, 6 if joins else 4)
        index = self.dice.randrange(self.topic.partitions)
        offset = self.ledger.commits_offset(transaction, index)
        topic = TxnOffsetCommitRequestTopic(
            name=self.topic.name,
            topic_id=self.topic.topic_id,
            partitions=[
                TxnOffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset, committed_metadata=""
                )
            ],
        )
        message = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=self.group,
            producer_id=instance.producer_id,
            producer_epoch=instance.epoch,
            topics=[topic],
        )

        async def attempt() -> int:
            response = await self._ask(GROUP, message, version)
            return int(response.topics[0].partitions[0].error_code)

        await self._until_done("TxnOffsetCommit", transaction, attempt)
        self.note(f"commits offset {offset} for {index} in {transaction}")
        self._vanish_sometimes("behind TxnOffsetCommit")

    # ---------------------------------------------------------------- batches

    async def produce(
        self, instance: ProducerInstance, transaction: SentTransaction, indexes: Iterable[int]
    ) -> None:
        """Send one batch to each partition, and again until all are answered; see `_until_done`."""
        joins = instance.joins_with_batch
        version = self.version_between("Produce", 12 if joins else 3, 13 if joins else 11)
        waiting = {index: self._make_batch(instance, transaction, index) for index in indexes}
        instance.must_bump = not joins
        tries = [0]

        async def attempt() -> int:
            tries[0] += 1
            leaders = await self.by_leader(waiting)
            if not leaders:
                return int(ErrorCode.LEADER_NOT_AVAILABLE)
            code = 0
            for leader, owned in leaders.items():
                message = self._produce_request({index: waiting[index][1] for index in owned})
                if self.dice.one_in(2 * ONE_IN_VANISHES) and not self.world.is_calm():
                    self._send_unheard(leader, message, version)
                response = await self.ask_within_life(
                    message, version, peer=leader, purpose=self._purpose
                )
                for answer in response.responses[0].partition_responses:
                    code = self._take(transaction, waiting, answer, leader.node_id) or code
            return code or (ErrorCode.LEADER_NOT_AVAILABLE if waiting else 0)

        await self._until_done("Produce", transaction, attempt)
        instance.must_bump = False
        self._vanish_sometimes("behind Produce")

    def _make_batch(
        self, instance: ProducerInstance, transaction: SentTransaction, index: int
    ) -> tuple[list[bytes], bytes]:
        identities = []
        for _ in range(self.dice.choice((1, 1, 2, 4))):
            self._number += 1
            identities.append(f"{self.name}-{self._number}".encode())
            self.ledger.attempt(transaction, index, identities[-1])
        sequence = instance.sequences.get(index, 0)
        instance.sequences[index] = sequence + len(identities)
        now_ms = self.environment.clock.wall_ms()
        filler = b"." * self.dice.choice((0, 10, 300))
        batch = build_batch(
            [(None, each + filler, now_ms, [(ID_HEADER, each)]) for each in identities],
            codec=self.dice.choice(CODECS),
            producer_id=instance.producer_id,
            producer_epoch=instance.epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        return identities, bytes(batch)

    def _produce_request(self, batches: dict[int, bytes]) -> ProduceRequest:
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=1_500,
            topic_data=[
                TopicProduceData(
                    name=self.topic.name,
                    topic_id=self.topic.topic_id,
                    partition_data=[
                        PartitionProduceData(index=index, records=batch)
                        for index, batch in batches.items()
                    ],
                )
            ],
        )

    def _send_unheard(self, leader: Peer, message: ProduceRequest, version: int) -> None:
        """The last that the client does: nobody waits for the answer."""
        deadline_ms = self.environment.clock.now_ms() + 2_000
        self.pool.send(leader, message, deadline_ms, purpose=self._purpose, max_version=version)
        raise Vanished("with a batch on its way")

    def _take(
        self,
        transaction: SentTransaction,
        waiting: dict[int, tuple[list[bytes], bytes]],
        answer: Any,
        node_id: int,
    ) -> int:
        code = int(answer.error_code)
        if code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            del waiting[answer.index]
            return 0
        if code in FENCED | ABORTABLE and not self.topic.ledgers[answer.index].is_led_by(node_id):
            raise MustAbort("a former leader, which was paused, refuses a batch")
        if code:
            return code
        identities, _ = waiting.pop(answer.index)
        self.note(
            f"{self.topic.name}-{answer.index} {identities[0]!r}+{len(identities)} "
            f"acknowledged at {answer.base_offset}"
        )
        for delta, identity in enumerate(identities):
            self.ledger.acked(transaction, identity, answer.base_offset + delta)
        return 0

    # ---------------------------------------------------------------- the end

    async def end(
        self, instance: ProducerInstance, transaction: SentTransaction, *, is_commit: bool
    ) -> None:
        """Commit or abort. Raises Fenced, also for MustAbort, or Vanished."""
        bumps = instance.joins_with_batch
        version = self.version_between("EndTxn", 5 if bumps else 0, 5 if bumps else 4)
        message = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=instance.producer_id,
            producer_epoch=instance.epoch,
            committed=is_commit,
        )
        may_be_done = False
        if not is_commit:
            self.ledger.aborted(transaction)

        async def attempt() -> int:
            nonlocal may_be_done
            await self.coordinator(TRANSACTION, self.transactional_id)
            if is_commit:
                self.ledger.commit_sent(transaction)
            was_done, may_be_done = may_be_done, True
            response = await self._ask(TRANSACTION, message, version)
            code = int(response.error_code)
            may_be_done = was_done or code in AGAIN - NOT_DONE
            if not code and bumps:
                instance.producer_id, instance.epoch = response.producer_id, response.producer_epoch
                instance.sequences.clear()
            return code

        try:
            await self._until_done("EndTxn", transaction, attempt)
        except (Fenced, MustAbort) as why:
            if is_commit and not may_be_done:
                self.ledger.aborted(transaction)
            raise Fenced(str(why)) from why
        if is_commit:
            self.committed += 1
            self.ledger.commit_answered(transaction)
        if bumps:
            self.ledger.bumped(instance)
        self.note(f"has ended {transaction}")

    # ---------------------------------------------------------------- offsets

    async def check_offsets(self, instance: ProducerInstance) -> None:
        """Compare a committed offset of the group with its transactions, if it can be fetched."""
        index = self.dice.randrange(self.topic.partitions)
        version = self.version_of("OffsetFetch", FIRST_WITH_STABLE_OFFSETS)
        least = self.ledger.least_committed(self.transactional_id, index)
        message = offset_fetch(self.group, self.topic, index, version)
        try:
            response = await self._ask(GROUP, message, version)
            offset = fetched_offset(response, version)
        except KafkaError as failure:
            self.note(f"cannot fetch an offset: {failure.code}")
            self.forget_coordinators()
            return
        self.ledger.check_offset(self.transactional_id, index, least, offset)
