"""An operator that ends hanging transactions, as `kafka-transactions abort` does.

A power failure may take what the coordinator knew of a transaction whose records survive: no
coordinator ends it then. Where a producer's transaction stays at the same offset for longer than
any timeout, this client writes an abort marker.
"""

from __future__ import annotations

from typing import Any

from pykbroker.kraft.topic_name import GROUP_METADATA_TOPIC
from pykbroker.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from pykbroker.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from pykbroker.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from pykbroker.testing.world.clients.routed_client import FIRST_METADATA_THAT_CREATES_NOTHING
from pykbroker.testing.world.clients.transactional_client import TransactionalClient
from pykbroker.types import Peer

LONGER_THAN_ANY_TIMEOUT_MS = 9_000

# Topic, partition, producer id, first offset of its open transaction.
Open = tuple[str, int, int, int]


class HangingAborter(TransactionalClient):
    """A scripted operator that aborts hanging transactions."""

    async def script(self) -> None:
        """Look again and again; abort what was open at the last look, too."""
        before = await self._open_transactions()
        while not self.is_stopping:
            await self.pause(LONGER_THAN_ANY_TIMEOUT_MS, LONGER_THAN_ANY_TIMEOUT_MS)
            now = await self._open_transactions()
            for key, (leader, producer) in now.items():
                if key in before:
                    await self._abort(key, leader, producer)
            before = now

    async def _open_transactions(self) -> dict[Open, tuple[Peer, Any]]:
        found: dict[Open, tuple[Peer, Any]] = {}
        for name, index, leader in await self._partitions():
            response = await self.ask(
                DescribeProducersRequest(
                    topics=[TopicRequest(name=name, partition_indexes=[index])]
                ),
                0,
                peer=leader,
            )
            partition = response.topics[0].partitions[0]
            if partition.error_code:
                raise self.violated(f"{name}-{index}: {partition.error_code}")
            for producer in partition.active_producers:
                start = producer.current_txn_start_offset
                if start >= 0:
                    found[name, index, producer.producer_id, start] = leader, producer
        return found

    async def _partitions(self) -> list[tuple[str, int, Peer]]:
        topics = [
            MetadataRequestTopic(name=name) for name in (self.topic.name, GROUP_METADATA_TOPIC)
        ]
        response = await self.ask(
            MetadataRequest(topics=topics, allow_auto_topic_creation=False),
            self.version_of("Metadata", FIRST_METADATA_THAT_CREATES_NOTHING),
        )
        peers = {at.node_id: Peer(at.node_id, at.host, at.port) for at in response.brokers}
        return [
            (topic.name, partition.partition_index, peers[partition.leader_id])
            for topic in response.topics
            for partition in topic.partitions
        ]

    async def _abort(self, key: Open, leader: Peer, producer: Any) -> None:
        name, index, producer_id, start = key
        marker = WritableTxnMarker(
            producer_id=producer_id,
            producer_epoch=producer.producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name=name, partition_indexes=[index])],
            coordinator_epoch=max(producer.coordinator_epoch, 0),
        )
        response = await self.ask(WriteTxnMarkersRequest(markers=[marker]), 1, peer=leader)
        code = response.markers[0].topics[0].partitions[0].error_code
        if code:
            raise self.violated(f"{name}-{index}: the marker for {producer_id} is refused: {code}")
        self.note(f"aborted the transaction of {producer_id} in {name}-{index} from {start} on")
