"""librdkafka (confluent-kafka) against the broker."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.harness.consumed import key_of, partition_of
from tests.harness.waiting import wait_for
from tests.interop.samples import BASE_TIMESTAMP_MS, CODECS, samples


def _read(consumer: Consumer, count: int, timeout_s: float = 60) -> list[Any]:
    records: list[Any] = []
    deadline = time.monotonic() + timeout_s
    while len(records) < count and time.monotonic() < deadline:
        for message in consumer.consume(count - len(records), timeout=0.5):
            assert message.error() is None, message.error()
            records.append(message)
    return records


def _produce(servers: str, topic: str, values: list[bytes], **config: object) -> None:
    producer = Producer({"bootstrap.servers": servers, **config})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(60) == 0


@pytest.fixture
def admin(servers: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": servers})


def _create(
    admin: AdminClient, topic: str, partitions: int, config: dict[str, Any] | None = None
) -> None:
    admin.create_topics([NewTopic(topic, partitions, 1, config=config or {})])[topic].result(60)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("idempotent", [False, True])
def test_round_trip(servers: str, name: str, codec: str, idempotent: bool):
    reports: list[Any] = []
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "enable.idempotence": idempotent,
            "linger.ms": 20,
        }
    )
    sent = samples(300)
    for s in sent:
        producer.produce(
            name,
            s.value,
            s.key,
            partition=0,
            headers=list(s.headers),
            timestamp=s.timestamp_ms,
            on_delivery=lambda error, message: reports.append((error, message.offset())),
        )
    assert producer.flush(60) == 0
    assert reports == [(None, n) for n in range(len(sent))]
    consumer = Consumer({"bootstrap.servers": servers, "group.id": name})
    consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    received = _read(consumer, len(sent))
    consumer.close()
    assert [(m.key(), m.value(), m.headers() or [], m.timestamp()) for m in received] == [
        (s.key, s.value, s.headers, (TIMESTAMP_CREATE_TIME, s.timestamp_ms)) for s in sent
    ]


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_groups_share_partitions_and_survive_a_leaver(servers, admin, name, strategy):
    _create(admin, name, 4)
    options = {
        "bootstrap.servers": servers,
        "group.id": name,
        "auto.offset.reset": "earliest",
        "partition.assignment.strategy": strategy,
        "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 200,
    }
    consumers = [Consumer(options) for _ in range(2)]
    for consumer in consumers:
        consumer.subscribe([name])

    def settle(expected: list[int], living: list[Consumer]) -> bool:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            for consumer in living:
                consumer.poll(0.1)
            owned = [p.partition for c in living for p in c.assignment()]
            shares = sorted(len(c.assignment()) for c in living)
            if sorted(owned) == [0, 1, 2, 3] and shares == expected:
                return True
        return False

    assert settle([2, 2], consumers)
    consumers[0].close()
    assert settle([4], consumers[1:])
    consumers[1].close()


def test_a_static_member_keeps_its_partitions_over_a_restart(servers, admin, name):
    _create(admin, name, 2)
    options = {
        "bootstrap.servers": servers,
        "group.id": name,
        "auto.offset.reset": "earliest",
        "session.timeout.ms": 60000,  # it has so long to come back
        "heartbeat.interval.ms": 200,
    }
    events: list[str] = []
    stays = Consumer({**options, "group.instance.id": "stays"})
    leaves = Consumer({**options, "group.instance.id": "leaves"})
    stays.subscribe([name], on_assign=lambda _, parts: events.append(f"stays {len(parts)}"))
    leaves.subscribe([name])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        stays.poll(0.1)
        leaves.poll(0.1)
        if len(stays.assignment()) == len(leaves.assignment()) == 1:
            break
    before = [p.partition for p in leaves.assignment()]
    assert len(before) == 1
    events.clear()
    leaves.close()
    again = Consumer({**options, "group.instance.id": "leaves"})
    again.subscribe([name])
    deadline = time.monotonic() + 120
    while not again.assignment() and time.monotonic() < deadline:
        stays.poll(0.1)
        again.poll(0.1)
    assert [p.partition for p in again.assignment()] == before
    assert events == []
    stays.close()
    again.close()


def test_commit_and_resume_and_seek_by_time(servers, admin, name):
    _create(admin, name, 1)
    producer = Producer({"bootstrap.servers": servers, "compression.type": "zstd"})
    for n in range(50):
        producer.produce(name, str(n).encode(), timestamp=BASE_TIMESTAMP_MS + n * 1000)
    producer.flush(60)
    options = {
        "bootstrap.servers": servers,
        "group.id": name,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }
    consumer = Consumer(options)
    consumer.subscribe([name])
    for message in _read(consumer, 20):
        consumer.commit(message=message, asynchronous=False)
    consumer.close()
    resumed = Consumer(options)
    resumed.subscribe([name])
    assert [int(m.value()) for m in _read(resumed, 30)] == list(range(20, 50))
    [committed] = resumed.committed([TopicPartition(name, 0)], timeout=60)
    assert committed.offset == 20
    [found] = resumed.offsets_for_times(
        [TopicPartition(name, 0, BASE_TIMESTAMP_MS + 41_500)], timeout=60
    )
    assert found.offset == 42
    resumed.seek(found)
    assert int(_read(resumed, 1)[0].value()) == 42
    resumed.close()


def test_out_of_range_with_reset_error_is_reported(servers, name):
    _produce(servers, name, [b"x"])
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": name, "auto.offset.reset": "error"}
    )
    consumer.assign([TopicPartition(name, 0, 500)])
    deadline = time.monotonic() + 120
    error = None
    while error is None and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        error = message.error() if message is not None else None
    consumer.close()
    assert error is not None
    assert error.code() == KafkaError._AUTO_OFFSET_RESET


def test_admin_topics_partitions_configs_and_offsets(servers, admin, name):
    _create(admin, name, 1, {"segment.bytes": "1048576"})
    with pytest.raises(KafkaException) as exists:
        _create(admin, name, 1)
    assert exists.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    admin.create_partitions([NewPartitions(name, 3)])[name].result(60)
    resource = ConfigResource(ResourceType.TOPIC, name)
    resource.add_incremental_config(
        ConfigEntry("retention.ms", "1000000", incremental_operation=AlterConfigOpType.SET)
    )
    admin.incremental_alter_configs([resource])[resource].result(60)
    described = admin.describe_configs([resource])[resource].result(60)
    assert described["segment.bytes"].value == "1048576"
    assert described["retention.ms"].value == "1000000"
    assert described["compression.type"].is_default
    _produce(servers, name, [b"x"] * 10)
    tps = [TopicPartition(name, p) for p in range(3)]
    latest = admin.list_offsets({tp: OffsetSpec.latest() for tp in tps})
    assert sum(future.result(60).offset for future in latest.values()) == 10
    admin.delete_topics([name])[name].result(60)
    wait_for(lambda: name not in admin.list_topics(timeout=60).topics, "the deletion")
    cluster = admin.describe_cluster().result(60)
    assert cluster.cluster_id
    assert [node.id for node in cluster.nodes] == [1]


def test_delete_records_moves_the_start(servers, admin, name):
    _create(admin, name, 1)
    _produce(servers, name, [str(n).encode() for n in range(10)])
    tp = TopicPartition(name, 0, 4)
    deleted = admin.delete_records([tp])
    assert next(iter(deleted.values())).result(60).low_watermark == 4
    consumer = Consumer({"bootstrap.servers": servers, "group.id": name})
    assert consumer.get_watermark_offsets(TopicPartition(name, 0), timeout=60) == (4, 10)
    consumer.assign([TopicPartition(name, 0, OFFSET_BEGINNING)])
    assert [int(m.value()) for m in _read(consumer, 6)] == list(range(4, 10))
    consumer.close()


def test_a_message_over_the_limit_is_refused_and_the_next_one_accepted(servers, admin, name):
    _create(admin, name, 1, {"max.message.bytes": "1000"})
    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": servers, "compression.type": "none"})
    for size in (5000, 10):
        producer.produce(name, b"x" * size, on_delivery=lambda e, _: errors.append(e))
        producer.flush(60)
    assert errors[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert errors[1] is None


def test_a_keyless_record_to_a_compacted_topic_is_refused(servers, admin, name):
    _create(admin, name, 1, {"cleanup.policy": "compact"})
    errors: list[Any] = []
    producer = Producer({"bootstrap.servers": servers})
    producer.produce(name, b"x", on_delivery=lambda e, _: errors.append(e))
    producer.flush(60)
    assert errors[0].code() == KafkaError.INVALID_RECORD
    producer.produce(name, b"x", b"key", on_delivery=lambda e, _: errors.append(e))
    producer.flush(60)
    assert errors[1] is None


def test_keys_go_to_librdkafkas_partitions(servers, admin, name):
    _create(admin, name, 6)
    where: defaultdict[bytes, set[int]] = defaultdict(set)

    def note(error: object, message: Message) -> None:
        where[key_of(message)].add(partition_of(message))

    producer = Producer({"bootstrap.servers": servers})
    for n in range(120):
        producer.produce(
            name,
            b"v",
            b"key-%d" % (n % 12),
            on_delivery=note,
        )
    producer.flush(60)
    assert len(where) == 12
    assert all(len(partitions) == 1 for partitions in where.values())
    assert len(set.union(*where.values())) > 1
