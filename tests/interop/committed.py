"""Topics, and all that a read_committed consumer sees of them."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.consumed import partition_of


def make_topics(servers: str, names: tuple[str, ...], partitions: int, replicas: int) -> None:
    """Create them and wait until the controller has."""
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [NewTopic(name, partitions, replicas) for name in names]
    for future in admin.create_topics(topics).values():
        future.result(30)


def committed(servers: str, topic: str, *partitions: int) -> list[Message]:
    """The records of these partitions up to their last stable offsets, each in its order."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "checker",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in partitions])
    found: list[Message] = []
    ended: set[int] = set()
    while len(ended) < len(partitions):
        message = consumer.poll(60)
        assert message is not None, f"{topic}: nothing comes behind {len(found)} records"
        error = message.error()
        if error is None:
            found.append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            ended.add(partition_of(message))
    consumer.close()
    return found
