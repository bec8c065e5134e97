"""aiokafka against the broker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.interop.samples import BASE_TIMESTAMP_MS, CODECS, samples


async def _read(consumer: AIOKafkaConsumer, count: int, timeout_s: float = 60) -> list[Any]:
    async def loop() -> list[Any]:
        return [await consumer.getone() for _ in range(count)]

    return await asyncio.wait_for(loop(), timeout_s)


@pytest.mark.parametrize("codec", CODECS)
def test_round_trip(servers: str, name: str, codec: str):
    async def main() -> None:
        sent = samples()
        compression = None if codec == "none" else codec
        async with AIOKafkaProducer(
            bootstrap_servers=servers, compression_type=compression, linger_ms=20
        ) as producer:
            futures = [
                await producer.send(
                    name,
                    s.value,
                    s.key,
                    partition=0,
                    timestamp_ms=s.timestamp_ms,
                    headers=s.headers,
                )
                for s in sent
            ]
            offsets = [(await future).offset for future in futures]
        assert offsets == list(range(len(sent)))
        async with AIOKafkaConsumer(
            bootstrap_servers=servers, auto_offset_reset="earliest"
        ) as consumer:
            consumer.assign([TopicPartition(name, 0)])
            await consumer.seek_to_beginning()
            received = await _read(consumer, len(sent))
        assert [(r.key, r.value, list(r.headers), r.timestamp) for r in received] == [
            tuple(s) for s in sent
        ]

    asyncio.run(main())


def test_a_group_of_two_shares_the_partitions(servers: str, name: str):
    async def main() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=servers)
        await admin.start()
        await admin.create_topics([NewTopic(name, 4, 1)])
        await admin.close()
        options = {
            "bootstrap_servers": servers,
            "group_id": name,
            "auto_offset_reset": "earliest",
            "heartbeat_interval_ms": 200,
        }
        async with AIOKafkaConsumer(name, **options) as one:
            async with AIOKafkaConsumer(name, **options) as two:
                async with asyncio.timeout(60):
                    while not len(one.assignment()) == len(two.assignment()) == 2:
                        await asyncio.sleep(0.1)
                assert not one.assignment() & two.assignment()
            async with asyncio.timeout(60):
                while len(one.assignment()) != 4:
                    await asyncio.sleep(0.1)

    asyncio.run(main())


def test_commit_resume_and_seek_by_time(servers: str, name: str):
    async def main() -> None:
        async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
            for n in range(20):
                await producer.send_and_wait(
                    name, str(n).encode(), timestamp_ms=BASE_TIMESTAMP_MS + n * 1000
                )
        options = {
            "bootstrap_servers": servers,
            "group_id": name,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
        }
        tp = TopicPartition(name, 0)
        async with AIOKafkaConsumer(name, **options) as consumer:
            await _read(consumer, 5)
            await consumer.commit({tp: 5})
        async with AIOKafkaConsumer(name, **options) as consumer:
            assert [int(r.value) for r in await _read(consumer, 15)] == list(range(5, 20))
            found = await consumer.offsets_for_times({tp: BASE_TIMESTAMP_MS + 7_001})
            assert found[tp].offset == 8
            assert await consumer.end_offsets([tp]) == {tp: 20}

    asyncio.run(main())
