"""Outgoing connections to a real node in a process of its own."""

from __future__ import annotations

import asyncio
from typing import Any

from pykbroker.environment.real.world import real_environment
from pykbroker.errors import ErrorCode
from pykbroker.network.client_pool import ClientPool, ClientSettings
from pykbroker.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from pykbroker.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from pykbroker.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from pykbroker.protocol.primitives import Message
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing import Broker
from pykbroker.types import Peer
from tests.network.fake_nodes import wait_for

VALUE_BYTES = 700_000
BATCHES = 5


def test_produce_and_fetch_more_than_one_buffer() -> None:
    values = [bytes([number]) * VALUE_BYTES for number in range(BATCHES)]

    async def main(peer: Peer) -> None:
        environment = real_environment(asyncio.get_running_loop())
        pool = ClientPool(environment, ClientSettings("tester"))

        async def ask(message: Message, **more: Any) -> Any:
            deadline_ms = environment.clock.now_ms() + 60_000
            return await wait_for(pool.send(peer, message, deadline_ms, **more))

        created = await ask(
            CreateTopicsRequest(
                topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)],
                timeout_ms=60_000,
            )
        )
        topic_id = created.topics[0].topic_id
        assert created.topics[0].error_code == ErrorCode.NONE
        for value in values:
            batch = build_batch([(None, value, 1_700_000_000_000, ())])
            partition = PartitionProduceData(index=0, records=batch)
            topic = TopicProduceData(topic_id=topic_id, partition_data=[partition])
            produced = await ask(ProduceRequest(acks=-1, timeout_ms=60_000, topic_data=[topic]))
            assert produced.responses[0].partition_responses[0].error_code == ErrorCode.NONE
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 30)
        fetched = await ask(
            FetchRequest(
                max_wait_ms=0,
                min_bytes=1,
                topics=[FetchTopic(topic_id=topic_id, partitions=[wanted])],
            ),
            purpose="fetch",
        )
        records = fetched.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        assert all(value in bytes(records) for value in values)
        pool.close()

    with Broker() as broker:
        host, port = broker.bootstrap_servers.split(":")
        asyncio.run(main(Peer(1, host, int(port))))
