"""kafka-python against the broker: producing, consuming, groups, administration."""

from __future__ import annotations

import time
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import UnknownTopicOrPartitionError

from tests.harness.waiting import wait_for
from tests.interop.samples import BASE_TIMESTAMP_MS, CODECS, samples


def _consume(consumer: KafkaConsumer, count: int, timeout_s: float = 60) -> list[Any]:
    records: list[Any] = []
    deadline = time.monotonic() + timeout_s
    while len(records) < count and time.monotonic() < deadline:
        for batch in consumer.poll(timeout_ms=500).values():
            records.extend(batch)
    return records


@pytest.fixture
def admin(servers: str):
    client = KafkaAdminClient(bootstrap_servers=servers)
    yield client
    client.close()


@pytest.mark.parametrize("codec", CODECS)
def test_round_trip_of_keys_nulls_headers_and_timestamps(servers: str, name: str, codec: str):
    producer = KafkaProducer(
        bootstrap_servers=servers,
        compression_type=None if codec == "none" else codec,
        linger_ms=20,
        acks="all",
    )
    sent = samples()
    futures = [
        producer.send(
            name, s.value, s.key, headers=s.headers, timestamp_ms=s.timestamp_ms, partition=0
        )
        for s in sent
    ]
    offsets = [future.get(60).offset for future in futures]
    producer.close()
    assert offsets == list(range(len(sent)))
    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(name, 0)])
    received = _consume(consumer, len(sent))
    consumer.close()
    assert [(r.key, r.value, list(r.headers), r.timestamp) for r in received] == [
        tuple(s) for s in sent
    ]
    assert [r.offset for r in received] == offsets


def test_a_group_resumes_after_its_committed_offset(servers: str, name: str):
    producer = KafkaProducer(bootstrap_servers=servers)
    for n in range(30):
        producer.send(name, str(n).encode())
    producer.flush()
    options = {
        "bootstrap_servers": servers,
        "group_id": name,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "max_poll_records": 10,
    }
    first = KafkaConsumer(name, **options)
    seen = _consume(first, 10)[:10]
    tp = TopicPartition(name, 0)
    first.seek(tp, 10)
    first.commit()
    first.close()
    second = KafkaConsumer(name, **options)
    rest = _consume(second, 20)
    assert second.committed(tp) == 10
    second.close()
    producer.close()
    assert [int(r.value) for r in seen] == list(range(10))
    assert [int(r.value) for r in rest] == list(range(10, 30))


def test_offsets_for_times_beginning_and_end(servers: str, name: str):
    producer = KafkaProducer(bootstrap_servers=servers, compression_type="gzip", linger_ms=50)
    for n in range(20):
        producer.send(name, b"x", timestamp_ms=BASE_TIMESTAMP_MS + n * 1000)
    producer.flush()
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=servers)
    tp = TopicPartition(name, 0)
    found = consumer.offsets_for_times({tp: BASE_TIMESTAMP_MS + 6500})[tp]
    assert (found.offset, found.timestamp) == (7, BASE_TIMESTAMP_MS + 7000)
    assert consumer.offsets_for_times({tp: BASE_TIMESTAMP_MS + 10**8})[tp] is None
    assert consumer.beginning_offsets([tp]) == {tp: 0}
    assert consumer.end_offsets([tp]) == {tp: 20}
    consumer.close()


def test_out_of_range_resets_as_configured(servers: str, name: str):
    producer = KafkaProducer(bootstrap_servers=servers)
    for n in range(5):
        producer.send(name, str(n).encode())
    producer.flush()
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    tp = TopicPartition(name, 0)
    consumer.assign([tp])
    consumer.seek(tp, 1000)
    assert [r.offset for r in _consume(consumer, 5)] == [0, 1, 2, 3, 4]
    consumer.close()


def test_topics_are_created_described_grown_deleted_and_made_again(admin, servers, name):
    admin.create_topics([NewTopic(name, 3, 1, topic_configs={"retention.ms": "-1"})])
    [described] = admin.describe_topics([name])
    assert len(described["partitions"]) == 3
    first_id = described.get("topic_id")
    admin.create_partitions({name: 5})
    [described] = admin.describe_topics([name])
    assert len(described["partitions"]) == 5
    producer = KafkaProducer(bootstrap_servers=servers)
    producer.send(name, b"old", partition=4).get(60)
    producer.close()
    admin.delete_topics([name])
    wait_for(lambda: name not in admin.list_topics(), "the deletion")
    admin.create_topics([NewTopic(name, 1, 1)])
    [again] = admin.describe_topics([name])
    assert len(again["partitions"]) == 1
    assert again.get("topic_id") != first_id or first_id is None
    consumer = KafkaConsumer(bootstrap_servers=servers)
    tp = TopicPartition(name, 0)
    assert consumer.end_offsets([tp]) == {tp: 0}
    consumer.close()


def test_deleting_an_unknown_topic_is_an_error(admin, name):
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.delete_topics([name])


def test_topic_configs_are_altered_and_described(admin, name):
    admin.create_topics([NewTopic(name, 1, 1)])
    resource = ConfigResource(
        ConfigResourceType.TOPIC, name, {"retention.ms": "123456", "cleanup.policy": "compact"}
    )
    admin.alter_configs([resource])
    described = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
    text = repr(described)
    assert "123456" in text
    assert "compact" in text


def test_groups_are_listed_described_and_deleted(admin, servers, name):
    producer = KafkaProducer(bootstrap_servers=servers)
    producer.send(name, b"x").get(60)
    producer.close()
    consumer = KafkaConsumer(
        name, bootstrap_servers=servers, group_id=name, auto_offset_reset="earliest"
    )
    assert len(_consume(consumer, 1)) == 1
    assert name in repr(admin.list_groups())
    assert "Stable" in repr(admin.describe_groups([name]))
    consumer.close()
    admin.delete_groups([name])
    assert f"'{name}'" not in repr(admin.list_groups())


def test_the_idempotent_producer_is_served(servers, name):
    producer = KafkaProducer(bootstrap_servers=servers, enable_idempotence=True)
    offsets = [producer.send(name, str(n).encode()).get(60).offset for n in range(20)]
    producer.close()
    assert offsets == list(range(20))
