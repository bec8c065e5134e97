"""A read_committed reader: it reports to its ledger what a Kafka consumer would return to its user.

It follows all partitions of the topic of transactions, and leaves out control batches and what the
aborted lists name. Now and then while there are faults, and after a power failure that may have
lost records, it begins again at offset 0, for the ledger to compare both readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.control_records import ABORT, decode_type
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.record_batch import iter_batches, iter_records
from pykbroker.testing.world.catalog import Catalog, TopicPromise
from pykbroker.testing.world.clients.transactional_client import TransactionalClient
from pykbroker.testing.world.ledger import ID_HEADER
from pykbroker.testing.world.transaction_ledger import TransactionLedger
from pykbroker.testing.world.world import World
from pykbroker.types import Peer

READ_COMMITTED = 1
ONE_IN_BEGINS_AGAIN = 25


class CommittedReader(TransactionalClient):
    """A scripted read_committed reader."""

    def __init__(
        self,
        world: World,
        name: str,
        bootstrap: Sequence[Peer],
        catalog: Catalog,
        topic: TopicPromise,
        ledger: TransactionLedger,
    ) -> None:
        super().__init__(world, name, bootstrap, catalog, topic, ledger)
        self._version = self.version_of("Fetch")
        self._failures = catalog.power_failures
        self.positions = dict.fromkeys(range(topic.partitions), 0)
        self.records_read = 0

    def begin_again(self) -> None:
        """Read everything once more."""
        self.positions = dict.fromkeys(self.positions, 0)

    async def script(self) -> None:
        """Read from one leader after the other until it is stopped."""
        while not self.is_stopping:
            if self._failures != self.catalog.power_failures or (
                self.dice.one_in(ONE_IN_BEGINS_AGAIN) and not self.world.is_calm()
            ):
                self._failures = self.catalog.power_failures
                self.begin_again()
            for leader, indexes in (await self.by_leader(self.positions)).items():
                try:
                    await self._fetch(leader, indexes)
                except KafkaError as failure:
                    self.note(f"fetch failed: {failure.code}")
                    self.forget_leaders()
                    await self.pause(20, 200)
            await self.pause(0, 60)

    async def _fetch(self, leader: Peer, indexes: Sequence[int]) -> None:
        response = await self.ask_within_life(
            FetchRequest(
                max_wait_ms=200,
                min_bytes=1,
                max_bytes=1 << 20,
                isolation_level=READ_COMMITTED,
                topics=[
                    FetchTopic(
                        topic=self.topic.name,
                        topic_id=self.topic.topic_id,
                        partitions=[
                            FetchPartition(
                                partition=index,
                                fetch_offset=self.positions[index],
                                partition_max_bytes=self.dice.choice((1, 400, 1 << 20)),
                            )
                            for index in indexes
                        ],
                    )
                ],
            ),
            self._version,
            peer=leader,
            timeout_ms=3_000,
            purpose="fetch",
        )
        if response.error_code:
            raise KafkaError(response.error_code)
        for topic in response.responses:
            for answer in topic.partitions:
                self._take(answer)

    def _take(self, answer: Any) -> None:
        index = answer.partition_index
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and self.ledger.may_hang:
            self.positions[index] = 0  # a power failure took the end of the log
            return
        if answer.error_code:
            raise KafkaError(answer.error_code)
        start = self.positions[index]
        shown, end = committed_records(answer, start)
        if end <= start:
            return
        if end > answer.last_stable_offset:
            raise self.violated(
                f"{self.topic.name}-{index}: read up to {end}, which is behind the last stable "
                f"offset {answer.last_stable_offset}"
            )
        self.positions[index] = end
        self.records_read += len(shown)
        self.ledger.read(index, start, end, shown)
        self.note(f"{self.topic.name}-{index} was read up to {end}, {len(shown)} committed")


def committed_records(answer: Any, start: int) -> tuple[dict[int, bytes], int]:
    """Return (offset -> identity, the next offset) of what a consumer shows of a partition's
    response, if it had read up to `start`.

    Source: Kafka's `CompletedFetch.java`.
    """
    waiting = sorted(answer.aborted_transactions or (), key=lambda each: each.first_offset)
    aborted: set[int] = set()
    shown: dict[int, bytes] = {}
    end = start
    for header, batch in iter_batches(answer.records or b"", partial_tail=True):
        end = max(end, header.next_offset)
        while waiting and waiting[0].first_offset <= header.last_offset:
            aborted.add(waiting.pop(0).producer_id)
        if header.is_control:
            if _is_abort(iter_records(batch)):
                aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            for record in iter_records(batch):
                if record.offset >= start:
                    shown[record.offset] = dict(record.headers).get(ID_HEADER) or b""
    return shown, end


def _is_abort(records: Iterable[Any]) -> bool:
    return any(decode_type(record.key) == ABORT for record in records)
