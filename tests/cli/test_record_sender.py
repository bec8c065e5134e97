from __future__ import annotations

import threading
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError
from kafka.future import Future

from pykbroker.cli.client_library import NO_VALUE, make_producer
from pykbroker.cli.command import CommandError
from pykbroker.cli.record_sender import OutgoingRecord, RecordSender
from pykbroker.testing import Broker


class Metadata:
    partition = 3


class SlowProducer:
    """Acknowledges nothing by itself."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.futures: list[Future] = []
        self.handed_over = threading.Semaphore(0)

    def send(self, topic: str, **arguments: Any) -> Future:
        if topic == "refused":
            raise KafkaTimeoutError("no metadata")
        self.sent.append(arguments)
        self.futures.append(Future())
        self.handed_over.release()
        return self.futures[-1]

    def close(self) -> None:
        pass


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    producer = SlowProducer()
    sender = RecordSender(producer)
    for topic in ("t", "t", "refused"):
        sender.send(OutgoingRecord(topic, b"k", None))
    assert producer.sent[0]["value"] is NO_VALUE
    producer.futures[0].success(Metadata)
    producer.futures[1].failure(KafkaTimeoutError("too late"))
    assert (sender.acknowledged, sender.failed, sender.partitions) == (1, 2, {3})
    assert capsys.readouterr().err.splitlines() == [
        "A record was not sent: KafkaTimeoutError: no metadata",
        "A record was not sent: KafkaTimeoutError: too late",
    ]
    with pytest.raises(CommandError, match=r"^2 of 3 records failed$"):
        sender.check()


def test_only_the_first_failures_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    sender = RecordSender(SlowProducer())
    for _ in range(20):
        sender.send(OutgoingRecord("refused", b"k", b"v"))
    assert sender.failed == 20
    assert len(capsys.readouterr().err.splitlines()) == 10


def test_what_waits_is_bounded() -> None:
    producer = SlowProducer()
    sender = RecordSender(producer, most_bytes=300)
    large = OutgoingRecord("t", None, bytes(1000))
    sender.send(large)  # alone, any size may go
    thread = threading.Thread(target=sender.send, args=(large,))
    thread.start()
    assert producer.handed_over.acquire(timeout=60)
    assert len(producer.sent) == 1
    producer.futures[0].success(Metadata)
    assert producer.handed_over.acquire(timeout=60)
    thread.join(60)
    assert len(producer.sent) == 2


def test_through_the_library(broker: Broker, topic: str) -> None:
    sender = RecordSender(make_producer(broker.bootstrap_servers, {}), synchronous=True)
    sender.send(OutgoingRecord(topic, b"k", b"v", [("h", b"1")], partition=1))
    assert sender.acknowledged == 1
    sender.send(OutgoingRecord(topic, None, None, partition=0))
    sender.close()
    sender.check()
    assert sender.partitions == {0, 1}
