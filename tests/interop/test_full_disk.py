"""The disk refuses a write while a stock client produces: the node ends, and nothing is lost."""

from __future__ import annotations

import resource

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from pykbroker.testing import Broker

TOPIC = "full-disk"
RECORD_BYTES = 500_000
LARGEST_FILE_BYTES = 12_000_000  # above the size of a preallocated index


def test_the_only_log_directory_fails() -> None:
    acknowledged = 0
    with Broker() as broker:
        producer = KafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            retries=0,
            enable_idempotence=False,
            request_timeout_ms=20_000,
            delivery_timeout_ms=25_000,
        )
        process = broker.process
        producer.send(TOPIC, b"first").get(60)
        acknowledged += 1
        limits = (LARGEST_FILE_BYTES, LARGEST_FILE_BYTES)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, limits)
        try:
            for number in range(2 * LARGEST_FILE_BYTES // RECORD_BYTES):
                producer.send(TOPIC, b"%08d" % number + bytes(RECORD_BYTES)).get(60)
                acknowledged += 1
        except KafkaError as refused:
            print(refused)
        producer.close(timeout=0)
        assert process.wait(60) == 1
        assert 10 < acknowledged <= LARGEST_FILE_BYTES // RECORD_BYTES
        log = broker.log_text
        assert "File too large" in log
        assert "the metadata log is in" in log
        assert "Traceback" not in log

        broker.kill()  # it is gone already: forget it
        broker.start()
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
        partition = TopicPartition(TOPIC, 0)
        assert consumer.beginning_offsets([partition]) == {partition: 0}
        assert consumer.end_offsets([partition]) == {partition: acknowledged}
        consumer.close()
