"""A rule about the markers of transactions, checked when a coordinator's log grows.

A transaction is completed when its markers are committed: when a completion is written to
`__transaction_state`, no partition has a marker that ended the transaction there and is not
committed yet. Such a marker disappears if its leader fails now, and nobody writes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykbroker.coordinator.transaction.records import TransactionRecordCodec
from pykbroker.coordinator.transaction.transaction import Transaction
from pykbroker.kraft.topic_name import TRANSACTION_STATE_TOPIC
from pykbroker.protocol.record_batch import iter_records
from pykbroker.testing.world.ledger import batches_of
from pykbroker.testing.world.node import Node
from pykbroker.testing.world.replication_invariants import READ_COMMITTED, ReplicationRules
from pykbroker.testing.world.transactions import STATE_PARTITIONS
from pykbroker.testing.world.world import Violation
from pykbroker.types import TopicPartition

if TYPE_CHECKING:
    from pykbroker.broker.server import BrokerServer
    from pykbroker.kraft.image import MetadataImage
    from pykbroker.replication.partition import Partition

_CODEC = TransactionRecordCodec()


class CommittedMarkers:
    """Checks that the markers of completed transactions are committed.

    image: the newest metadata; only the leaders that it names are looked at.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        rules: ReplicationRules,
        image: Callable[[], MetadataImage],
    ) -> None:
        self._nodes = list(nodes)
        self._rules = rules
        self._image = image
        self._read: dict[tuple[int, int, int, int], int] = {}
        """Node, its start, partition of the coordinator, leader epoch -> how far it was read."""
        self._decided: dict[str, Transaction] = {}
        """Transactional id -> its transaction whose outcome is written, and not its completion."""
        self.checked = 0
        """How many partitions of completed transactions were looked at."""

    def check(self, node: Node, server: BrokerServer | None) -> None:
        """See `NodeRule`."""
        if server is None:
            return
        for index in range(STATE_PARTITIONS):
            partition = server.replica_manager.find(TRANSACTION_STATE_TOPIC, index)
            if partition is None or not partition.is_leader:
                continue
            place = (node.node_id, node.starts, index, partition.leader_epoch)
            end = partition.log.log_end_offset
            start = self._read.setdefault(place, end)
            if end > start:
                self._read[place] = end
                if self._leads(node, partition):
                    self._follow(node, partition, start)

    def _leads(self, node: Node, partition: Partition) -> bool:
        found = self._image().partition(partition.topic, partition.index)
        return found is not None and (node.node_id, partition.leader_epoch) == (
            found.leader,
            found.leader_epoch,
        )

    def _follow(self, node: Node, partition: Partition, start: int) -> None:
        """Follow what the coordinator has written from `start` on."""
        with node.machine.files.peeked():
            written = [
                _CODEC.decode(record.key or b"", record.value)
                for header, batch in batches_of(partition.log, start)
                if not header.is_control
                for record in iter_records(batch)
            ]
        for record in written:
            if record is not None:
                self._take(record.key, record.value)

    def _take(self, transactional_id: str, transaction: Transaction | None) -> None:
        decided = self._decided.pop(transactional_id, None)
        if transaction is not None and transaction.state.is_ending:
            self._decided[transactional_id] = transaction
        elif decided is not None:
            for key in decided.partitions:
                self._check_marker(transactional_id, decided.producer_id, key)

    def _check_marker(self, transactional_id: str, producer_id: int, key: TopicPartition) -> None:
        for node in self._nodes:
            server = node.serving
            found = None if server is None else server.replica_manager.find(*key)
            if found is None or not found.is_leader or not self._leads(node, found):
                continue
            self.checked += 1
            with node.machine.files.peeked():
                offset = self._waiting_marker(found, producer_id)
            if offset is not None:
                raise Violation(
                    f"{node.name} {key}: the transaction of {transactional_id} is completed, and "
                    f"its marker at {offset} is not committed"
                )

    def _waiting_marker(self, partition: Partition, producer_id: int) -> int | None:
        """Return the offset of a marker that ended a transaction of this producer, and is not
        committed. One that was sent again, late, ends nothing.
        """
        known = self._rules.committed_end(partition.topic_id, partition.index)
        committed = max(known, partition.high_watermark)
        is_open = False
        for header, _ in batches_of(partition.log, partition.bound(READ_COMMITTED)):
            if header.producer_id != producer_id:
                continue
            if not header.is_control:
                is_open = True
            elif is_open and header.base_offset >= committed:
                return header.base_offset
            else:
                is_open = False
        return None
