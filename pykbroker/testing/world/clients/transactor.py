"""A transactional producer: it commits and aborts, crashes, is replaced, is late.

    InitProducerId -> a transaction -> ... -> another InitProducerId: a successor with the same id
    a transaction: batches to some partitions, sometimes offsets of a group, EndTxn
    on the way:    the client crashes, waits for half to twice its timeout, or is fenced by a rival
                   with the same transactional id

It speaks as clients of transaction.version 0 and 1 do (AddPartitionsToTxn, AddOffsetsToTxn) or,
when the node has finalised version 2, also as clients of that. When the faults are over it must
succeed (a rival need not), unless a power failure may have made its id unusable
(TRIES_WHEN_FORGOTTEN).
`transactor_requests.py` has what it sends.
"""

from __future__ import annotations

from pykbroker.errors import KafkaError
from pykbroker.testing.world.clients.client import GRACE_US
from pykbroker.testing.world.clients.transactor_requests import (
    Fenced,
    MustAbort,
    TransactorRequests,
    Vanished,
)
from pykbroker.testing.world.transaction_ledger import ProducerInstance, SentTransaction

COMMITS_WHEN_CALM = 3
TRIES_WHEN_CALM = 12
TRIES_WHEN_FORGOTTEN = 5
"""As in Kafka: a coordinator that lost its last records to a power failure may want to end a
transaction in partitions that know a later epoch. It never can."""
ONE_IN_LINGERS = 12


class Transactor(TransactorRequests):
    """A scripted transactional producer.

    rival: another client with the same transactional id; this one waits for its end before it has
    to succeed.
    """

    is_rival = False
    rival: Transactor | None = None
    transactions_left = 10

    async def script(self) -> None:
        """Work; then, if it is no rival, show that it works when nothing fails."""
        while self.transactions_left > 0 and not self.is_stopping:
            instance = await self._next_instance()
            if instance is not None:
                await self._use(instance)
            elif self.world.is_calm(GRACE_US):
                break
        while not self.world.is_calm(GRACE_US):
            await self.pause(200, 1_000)
        while self.rival is not None and not self.rival.is_done:
            await self.pause(200, 1_000)
        if not self.is_rival:
            self.ledger.nothing_is_late(self.transactional_id)
            await self._work_in_calm()

    async def _next_instance(self) -> ProducerInstance | None:
        self.sender += 1
        try:
            return await self.initialise()
        except (Vanished, KafkaError) as failure:
            self.note(f"gets no producer id: {failure}")
            await self.pause(50, 500)
            return None

    async def _use(self, instance: ProducerInstance) -> None:
        """Run transactions until the producer is of no use, or at random has had enough."""
        while self.transactions_left > 0 and not self.is_stopping:
            self.transactions_left -= 1
            try:
                await self._transact(instance)
                if self.dice.one_in(3):
                    await self.check_offsets(instance)
            except Fenced as why:
                self.note(f"is fenced: {why}")
                self.ledger.fences += 1
                if self.dice.one_in(2):
                    await self._haunt(instance)
                return
            except Vanished as why:
                self.note(f"vanishes: {why}")
                await self.pause(0, 2_000)
                return
            if self.dice.one_in(8):
                return
            await self.pause(0, 150)

    async def _work_in_calm(self) -> None:
        wanted = self.committed + COMMITS_WHEN_CALM
        instance = None
        is_forgotten = self.ledger.is_forgotten(self.transactional_id)
        for _ in range(TRIES_WHEN_FORGOTTEN if is_forgotten else TRIES_WHEN_CALM):
            if self.committed >= wanted or self.is_stopping:
                break
            try:
                if instance is None:
                    instance = await self._next_instance()
                if instance is not None:
                    await self._transact(instance)
            except (Fenced, Vanished) as why:
                self.note(f"needs a new id: {why}")
                instance = None
        else:
            if is_forgotten:
                self.note("has a transactional id that is no longer usable")
                return
            raise self.violated("cannot commit although no faults are active")
        if instance is not None and self.dice.one_in(2):
            await self._leave_open(instance)

    # ---------------------------------------------------------------- one transaction

    async def _transact(self, instance: ProducerInstance) -> None:
        """Run one transaction. Raises Fenced or Vanished: the producer is of no use any more."""
        transaction = self.ledger.begin(instance, self.world.now_us)
        is_commit = True
        try:
            await self._fill(instance, transaction)
            is_commit = self.world.is_calm() or not self.dice.one_in(4)
        except MustAbort as why:
            self.note(f"must abort {transaction}: {why}")
            is_commit = False
        except (Fenced, Vanished):
            self.ledger.aborted(transaction)
            raise
        await self.end(instance, transaction, is_commit=is_commit)
        if instance.must_bump:
            await self.bump(instance)

    async def _fill(self, instance: ProducerInstance, transaction: SentTransaction) -> None:
        for _ in range(self.dice.choice((1, 1, 2, 3))):
            count = min(self.dice.randint(1, 3), self.topic.partitions)
            indexes = self.dice.sample(range(self.topic.partitions), count)
            if not instance.joins_with_batch:
                await self.add_partitions(instance, transaction, indexes)
            await self.produce(instance, transaction, indexes)
            await self._linger(instance)
        if self.dice.one_in(3):
            if not instance.joins_with_batch:
                await self.add_offsets(instance, transaction)
            await self.commit_offsets(instance, transaction)
            await self._linger(instance)

    async def _linger(self, instance: ProducerInstance) -> None:
        if self.world.is_calm():
            return
        if self.dice.one_in(ONE_IN_LINGERS):
            await self.pause(instance.timeout_ms // 2, 2 * instance.timeout_ms)
        else:
            await self.pause(0, 60)

    async def _leave_open(self, instance: ProducerInstance) -> None:
        """The last transaction is for the coordinator to end."""
        transaction = self.ledger.begin(instance, self.world.now_us)
        try:
            await self._fill(instance, transaction)
        except (MustAbort, Fenced, Vanished) as why:
            self.note(f"could not fill {transaction} before leaving it open: {why}")

    async def _haunt(self, instance: ProducerInstance) -> None:
        """Continue as a zombie, after it was fenced."""
        transaction = self.ledger.begin(instance, self.world.now_us)
        transaction.is_contested = True
        try:
            await self._fill(instance, transaction)
            await self.end(instance, transaction, is_commit=True)
        except (MustAbort, Fenced, Vanished, KafkaError) as why:
            self.note(f"is rejected as a zombie: {why}")
        else:
            if not transaction.is_excused:
                raise self.violated(f"{transaction} of a fenced producer was committed")
