"""The bit fields that Apache Kafka 4.4 answers without an authorizer."""

from __future__ import annotations

from pykbroker.broker.requests.authorized_operations import (
    CLUSTER_OPERATIONS,
    NOT_ASKED,
    TOPIC_OPERATIONS,
    bit_field,
)


def test_what_kafka_answers() -> None:
    assert TOPIC_OPERATIONS == 3576
    assert CLUSTER_OPERATIONS == 8096
    assert NOT_ASKED == -2147483648
    assert bit_field() == 0
    assert bit_field(3, 3) == 8
