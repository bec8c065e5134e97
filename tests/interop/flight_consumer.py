"""A stock consumer (librdkafka) in a process of its own, so that a test can kill it with -9.

    python -m tests.interop.flight_consumer SERVERS GROUP TOPIC

Prints a line of JSON per record, `[partition, offset, key, value, timestamp_ms]`, and commits only
what it has printed and flushed: what a killed one did not commit, another one reads again.
"""

from __future__ import annotations

import json
import sys

from confluent_kafka import Consumer, KafkaError, KafkaException

from tests.harness.consumed import value_of

LOST = (
    KafkaError._ASSIGNMENT_LOST,
    KafkaError._NO_OFFSET,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.UNKNOWN_MEMBER_ID,
)


def main(servers: str, group: str, topic: str) -> None:
    """Read until standard output closes."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 500,
        }
    )
    consumer.subscribe([topic])
    while True:
        batch = consumer.consume(2000, timeout=0.5)
        lines = []
        for message in batch:
            if message.error() is not None:
                raise SystemExit(f"consumer error: {message.error()}")
            key = message.key()
            row = [
                message.partition(),
                message.offset(),
                None if key is None else key.decode(),
                value_of(message).decode(),
                message.timestamp()[1],
            ]
            lines.append(json.dumps(row))
        if lines:
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
            try:
                consumer.commit(asynchronous=False)
            except KafkaException as refused:  # others have the partitions now, and read it again
                if refused.args[0].code() not in LOST:
                    raise


if __name__ == "__main__":
    main(*sys.argv[1:])
