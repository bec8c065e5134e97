"""Transactional producers of stock clients fail with the broker's error, not with a timeout."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import TransactionalIdAuthorizationFailed
from confluent_kafka import KafkaError, KafkaException, Producer
from kafka import KafkaProducer
from kafka.errors import TransactionalIdAuthorizationFailedError

from pykbroker.testing import Broker

# The clients retry for as long as this when the error is not final: a test that waits fails.
PATIENCE_S = 300.0


@pytest.fixture(scope="module")
def servers() -> object:
    with Broker() as broker:
        yield broker.bootstrap_servers


def test_librdkafka(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "t"})
    with pytest.raises(KafkaException) as refused:
        producer.init_transactions(PATIENCE_S)
    error = refused.value.args[0]
    assert error.code() == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert error.fatal()


def test_kafka_python(servers: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=servers, transactional_id="t", max_block_ms=int(PATIENCE_S * 1000)
    )
    try:
        with pytest.raises(TransactionalIdAuthorizationFailedError):
            producer.init_transactions()
    finally:
        producer.close(timeout=0)


def test_aiokafka(servers: str) -> None:
    async def start() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id="t")
        try:
            await asyncio.wait_for(producer.start(), PATIENCE_S)
        finally:
            await producer.stop()

    with pytest.raises(TransactionalIdAuthorizationFailed):
        asyncio.run(start())
