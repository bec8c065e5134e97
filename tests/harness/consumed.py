"""What a message that confluent-kafka consumed is certain to have; its type leaves it open."""

from __future__ import annotations

from confluent_kafka import KafkaError, Message


def key_of(message: Message) -> bytes:
    key = message.key()
    assert key is not None
    return key


def value_of(message: Message) -> bytes:
    value = message.value()
    assert value is not None
    return value


def partition_of(message: Message) -> int:
    partition = message.partition()
    assert partition is not None
    return partition


def offset_of(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset


def error_of(message: Message) -> KafkaError:
    error = message.error()
    assert error is not None
    return error
