"""Full and read-only disks, real ones (small tmpfs mounts), under a node with stock clients.

One of two log directories fails: its partitions answer KAFKA_STORAGE_ERROR, the others go on, and
after a restart with more space every record that was acknowledged is there, once. The last one
lost ends the node. Mounting needs root; where that is missing the tests fail, they are not skipped.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError, KafkaStorageError

from pykbroker.protocol.messages.describe_log_dirs_request import DescribeLogDirsRequest
from pykbroker.testing import Broker
from tests.harness.raw_client import RawClient

TOPIC = "two-disks"
PARTITIONS = 4
RECORD_BYTES = 200_000
SMALL_MB = 8
STORAGE_ERROR = 56


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of SMALL_MB."""
    at = tmp_path / "small"
    at.mkdir()
    run("mount", "-t", "tmpfs", "-o", f"size={SMALL_MB}m", "pykbroker-test", str(at))
    yield at
    run("umount", "--lazy", str(at))


def node_on(tmp_path: Path, *directories: Path) -> Broker:
    """A node whose metadata lies on a disk that does not fail."""
    overrides = {
        "log.dirs": ",".join(str(each / "logs") for each in directories),
        "metadata.log.dir": str(tmp_path / "metadata"),
        "log.initial.task.delay.ms": "1000000",
    }
    return Broker(data_dir=tmp_path / "unused", overrides=overrides)


def make_topic(broker: Broker) -> None:
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
    admin.close()


def fill(broker: Broker, per_partition: int) -> tuple[Counter[int], dict[int, str]]:
    """Partition -> how many records were acknowledged; partition -> the error that ended it."""
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        acks="all",
        retries=0,
        enable_idempotence=False,
        request_timeout_ms=20_000,
        delivery_timeout_ms=25_000,
        max_block_ms=20_000,
    )
    acknowledged: Counter[int] = Counter()
    failed: dict[int, str] = {}
    for number in range(per_partition):
        value = b"%08d" % number + bytes(RECORD_BYTES)
        sent = {  # together: a client takes its whole time-out to give up a record
            partition: producer.send(TOPIC, value, partition=partition)
            for partition in range(PARTITIONS)
            if partition not in failed
        }
        for partition, future in sent.items():
            try:
                future.get(60)
                acknowledged[partition] += 1
            except KafkaError as refused:
                failed[partition] = type(refused).__name__
    producer.close(timeout=1)
    return acknowledged, failed


def numbers(broker: Broker, partition: int) -> list[int]:
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers)
    at = TopicPartition(TOPIC, partition)
    consumer.assign([at])
    consumer.seek_to_beginning(at)
    end = consumer.end_offsets([at])[at]
    found: list[int] = []
    while len(found) < end:
        for records in consumer.poll(5000).values():
            found += [int(record.value[:8]) for record in records]
    consumer.close()
    return found


def directory_errors(broker: Broker) -> list[int]:
    with RawClient(broker.bootstrap_servers) as client:
        answer = client.ask("DescribeLogDirs", 4, DescribeLogDirsRequest(topics=None))
    return [result.error_code for result in answer.results]


def lines_about(broker: Broker, path: Path) -> list[str]:
    """Warnings and errors that name the directory."""
    return [
        line
        for line in broker.log_text.splitlines()
        if str(path) in line and (" ERROR " in line or " WARN" in line)
    ]


def test_one_of_two_directories_is_full(tmp_path: Path, small: Path) -> None:
    (tmp_path / "large").mkdir()
    with node_on(tmp_path, small, tmp_path / "large") as broker:
        make_topic(broker)
        here = {int(path.name.split("-")[-1]) for path in (small / "logs").glob(f"{TOPIC}-*")}
        assert 0 < len(here) < PARTITIONS
        enough = 2 * SMALL_MB * 1_000_000 // RECORD_BYTES // len(here)
        acknowledged, failed = fill(broker, enough)
        assert failed.keys() == here
        # The first to meet the full disk hears of it; the others may find no leader any more.
        assert KafkaStorageError.__name__ in failed.values(), failed
        for partition in set(range(PARTITIONS)) - here:
            assert acknowledged[partition] == enough
        assert sorted(directory_errors(broker)) == [0, STORAGE_ERROR]
        (line,) = lines_about(broker, small)
        assert "No space left on device" in line
        assert "Traceback" not in broker.log_text

        # Still full: the node starts, the directory is offline or serves what it has.
        broker.kill()
        run("mount", "-o", f"remount,size={4 * SMALL_MB}m", str(small))
        broker.start()
        assert directory_errors(broker) == [0, 0]
        for partition in range(PARTITIONS):
            found = numbers(broker, partition)
            assert found == list(range(len(found)))
            assert acknowledged[partition] <= len(found) <= acknowledged[partition] + 1
        more, failed = fill(broker, 2)
        assert not failed
        assert more == Counter(dict.fromkeys(range(PARTITIONS), 2))


def test_a_directory_is_read_only_at_the_start(tmp_path: Path, small: Path) -> None:
    (tmp_path / "large").mkdir()
    with node_on(tmp_path, small, tmp_path / "large") as broker:
        make_topic(broker)
        here = {int(path.name.split("-")[-1]) for path in (small / "logs").glob(f"{TOPIC}-*")}
        assert fill(broker, 3) == (Counter(dict.fromkeys(range(PARTITIONS), 3)), {})
        broker.stop()
        run("mount", "-o", "remount,ro", str(small))
        broker.start()
        assert sorted(directory_errors(broker)) == [0, STORAGE_ERROR]
        assert any("Read-only file system" in line for line in lines_about(broker, small))
        for partition in set(range(PARTITIONS)) - here:
            assert numbers(broker, partition) == [0, 1, 2]
        _, failed = fill(broker, 1)
        assert failed.keys() == here
        broker.stop()
        run("mount", "-o", "remount,rw", str(small))
        broker.start()
        for partition in here:
            assert numbers(broker, partition) == [0, 1, 2]
        assert fill(broker, 1)[1] == {}
        assert "Traceback" not in broker.log_text


def test_the_last_directory_is_full(tmp_path: Path, small: Path) -> None:
    with node_on(tmp_path, small) as broker:
        make_topic(broker)
        process = broker.process
        acknowledged, failed = fill(broker, 2 * SMALL_MB * 1_000_000 // RECORD_BYTES)
        assert len(failed) == PARTITIONS
        assert process.wait(60) == 1
        assert "the last log directory, failed" in broker.log_text
        assert "Traceback" not in broker.log_text
        broker.kill()
        run("mount", "-o", f"remount,size={4 * SMALL_MB}m", str(small))
        broker.start()
        for partition in range(PARTITIONS):
            found = numbers(broker, partition)
            assert found == list(range(len(found)))
            assert acknowledged[partition] <= len(found) <= acknowledged[partition] + 1
