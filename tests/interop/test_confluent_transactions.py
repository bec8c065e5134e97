"""Transactions of librdkafka (confluent-kafka): what readers see, and what offsets groups have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from tests.harness.consumed import error_of, value_of
from tests.harness.markers import await_markers

PARTITIONS = 3
PATIENCE_S = 60


@pytest.fixture
def topic(servers: str, name: str) -> str:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(PATIENCE_S)
    return name


def transactional(servers: str, transactional_id: str, **config: object) -> Producer:
    settings = {"bootstrap.servers": servers, "transactional.id": transactional_id}
    producer = Producer(settings | {"transaction.timeout.ms": 600_000} | config)
    producer.init_transactions(PATIENCE_S)
    return producer


def write(producer: Producer, topic: str, *values: str) -> None:
    """Write into all partitions in turn, and have the broker take it."""
    for number, value in enumerate(values):
        producer.produce(topic, value.encode(), partition=number % PARTITIONS)
    assert producer.flush(PATIENCE_S) == 0


def read(servers: str, topic: str, isolation: str = "read_committed") -> list[str]:
    """Everything up to what is the end for this isolation now."""
    level = getattr(IsolationLevel, isolation.upper())
    admin = AdminClient({"bootstrap.servers": servers})
    wanted = {TopicPartition(topic, index): OffsetSpec.latest() for index in range(PARTITIONS)}
    futures = admin.list_offsets(wanted, isolation_level=level)
    ends = {at.partition: future.result(PATIENCE_S).offset for at, future in futures.items()}
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in ends])
    found: list[str] = []
    ended: set[int | None] = set()
    try:
        while len(ended) < PARTITIONS:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, "no message and no end of a partition"
            if message.error() is None:
                found.append(value_of(message).decode())
            else:
                assert error_of(message).code() == KafkaError._PARTITION_EOF
                ended.add(message.partition())
    finally:
        consumer.close()
    return sorted(found)


def settled(servers: str, topic: str) -> None:
    for index in range(PARTITIONS):
        await_markers(servers, topic, index)


def test_readers_see_committed_transactions_whole(servers: str, topic: str) -> None:
    producer = transactional(servers, topic)
    producer.begin_transaction()
    write(producer, topic, "a", "b", "c", "d")
    assert read(servers, topic) == []
    assert read(servers, topic, "read_uncommitted") == ["a", "b", "c", "d"]
    producer.commit_transaction(PATIENCE_S)
    producer.begin_transaction()
    write(producer, topic, "x", "y")
    producer.abort_transaction(PATIENCE_S)
    producer.begin_transaction()
    write(producer, topic, "e", "f")
    producer.commit_transaction(PATIENCE_S)
    settled(servers, topic)
    assert read(servers, topic) == ["a", "b", "c", "d", "e", "f"]
    everything = ["a", "b", "c", "d", "e", "f", "x", "y"]
    assert read(servers, topic, "read_uncommitted") == everything


def test_many_transactions_in_a_row(servers: str, topic: str) -> None:
    producer = transactional(servers, topic)
    expected = []
    for number in range(30):
        values = [f"{number:02d}-{index}" for index in range(5)]
        producer.begin_transaction()
        write(producer, topic, *values)
        if number % 3:
            producer.commit_transaction(PATIENCE_S)
            expected += values
        else:
            producer.abort_transaction(PATIENCE_S)
    settled(servers, topic)
    assert read(servers, topic) == sorted(expected)


def test_an_open_transaction_holds_back_those_that_follow(servers: str, topic: str) -> None:
    slow, fast = transactional(servers, f"{topic}-slow"), transactional(servers, topic)
    slow.begin_transaction()
    write(slow, topic, "slow")
    fast.begin_transaction()
    write(fast, topic, "fast", "other")
    fast.commit_transaction(PATIENCE_S)
    await_markers(servers, topic, 1)
    assert read(servers, topic) == ["other"]
    slow.commit_transaction(PATIENCE_S)
    settled(servers, topic)
    assert read(servers, topic) == ["fast", "other", "slow"]


def committed(servers: str, group: str, topic: str, stable: bool = True) -> dict[int, int]:
    admin = AdminClient({"bootstrap.servers": servers})
    asked = [ConsumerGroupTopicPartitions(group)]
    future = admin.list_consumer_group_offsets(asked, require_stable=stable)[group]
    found = future.result(PATIENCE_S).topic_partitions
    return {at.partition: at.offset for at in found if at.topic == topic and at.offset >= 0}


def member(servers: str, group: str, topic: str) -> Consumer:
    """A member of the group that has read something."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    message = None
    while message is None:
        message = consumer.poll(PATIENCE_S)
    assert message.error() is None
    return consumer


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_go_with_the_transaction(servers: str, topic: str, commits: bool) -> None:
    producer = transactional(servers, topic)
    producer.begin_transaction()
    write(producer, topic, "in")
    producer.commit_transaction(PATIENCE_S)
    consumer = member(servers, topic, topic)
    producer.begin_transaction()
    write(producer, topic, "out")
    position = [TopicPartition(topic, 0, 1)]
    producer.send_offsets_to_transaction(position, consumer.consumer_group_metadata(), PATIENCE_S)
    assert committed(servers, topic, topic, stable=False) == {}
    if commits:
        producer.commit_transaction(PATIENCE_S)
    else:
        producer.abort_transaction(PATIENCE_S)
    assert committed(servers, topic, topic) == ({0: 1} if commits else {})
    consumer.close()


def test_a_zombie_is_fenced(servers: str, topic: str) -> None:
    zombie = transactional(servers, topic)
    zombie.begin_transaction()
    write(zombie, topic, "zombie")
    heir = transactional(servers, topic)
    with pytest.raises(KafkaException) as refused:
        zombie.commit_transaction(PATIENCE_S)
    assert refused.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)
    heir.begin_transaction()
    write(heir, topic, "heir")
    heir.commit_transaction(PATIENCE_S)
    settled(servers, topic)
    assert read(servers, topic) == ["heir"]


def test_a_transaction_outlives_the_broker(make_broker: Callable[..., Any], name: str) -> None:
    with make_broker() as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(PATIENCE_S)
        producer = transactional(servers, name)
        producer.begin_transaction()
        write(producer, name, "before")
        broker.kill()
        broker.start()
        write(producer, name, "after", "kill")
        producer.commit_transaction(PATIENCE_S)
        settled(servers, name)
        assert read(servers, name) == ["after", "before", "kill"]
        producer.begin_transaction()
        write(producer, name, "lost")
        broker.kill()
        broker.start()
        heir = transactional(servers, name)  # aborts what was open
        heir.begin_transaction()
        write(heir, name, "heir")
        heir.commit_transaction(PATIENCE_S)
        settled(servers, name)
        assert read(servers, name) == ["after", "before", "heir", "kill"]
