"""A directory that Kafka before 0.11 began, under a node of ours, Apache's, and stock clients.

The segments are built by hand and put in the place of a topic's: every codec in magic 0 and 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPythonPartition

from pykbroker.protocol.compression import CODEC_NAMES, GZIP, LZ4, NONE, SNAPPY
from pykbroker.protocol.record_batch import build_batch
from pykbroker.testing import Broker
from tests.harness.apache import CONSOLE_CONSUMER, DUMP_LOG, ApacheBroker, run_tool
from tests.harness.consumed import error_of, offset_of
from tests.harness.old_messages import OLD_MS, old_segment
from tests.harness.waiting import wait_for

CODECS = (NONE, GZIP, SNAPPY, LZ4)
TOPICS = {
    f"old-{magic}-{CODEC_NAMES[codec]}": (magic, codec) for magic in (0, 1) for codec in CODECS
}
COUNT = 40
TABLES = {f"table-{magic}-{codec}": (magic, codec) for magic in (0, 1) for codec in (NONE, GZIP)}
KEPT = [33, 34, 35, 36, 37, 39, 40, 41]
SEGMENT_MS = 100
FIRST_SEGMENT = f"{0:020d}.log"
WIDE = "wide"
FAR = 1 << 31
WIDE_OFFSETS = [0, 3, FAR - 1, FAR, FAR + 1, 3 * FAR]
SETTINGS = {
    "log.retention.ms": "-1",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
}
Seen = list[tuple[int, bytes | None, bytes | None, int]]


def wide_segment() -> bytes:
    """Offsets more than 2^31 apart, as cleaners before Kafka 1.1 put them into one segment."""
    return b"".join(
        build_batch([(b"k", b"%d" % offset, OLD_MS, ())], base_offset=offset, leader_epoch=0)
        for offset in WIDE_OFFSETS
    )


def plant(data_dir: Path) -> None:
    """Old segments of offsets 0 to 19 and 20 to 39 in the place of each topic's empty one."""
    for topic, (magic, codec) in (TOPICS | TABLES).items():
        directory = data_dir / f"{topic}-0"
        for path in directory.iterdir():
            if path.name != "partition.metadata":
                path.unlink()
        for first in (0, 20):
            path = directory / f"{first:020d}.log"
            keys = 7 if topic in TABLES else 1000
            path.write_bytes(old_segment(magic, codec, first, keys=keys))
    for path in (data_dir / f"{WIDE}-0").iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    (data_dir / f"{WIDE}-0" / FIRST_SEGMENT).write_bytes(wide_segment())
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        (data_dir / name).unlink(missing_ok=True)


def make_directory(data_dir: Path) -> None:
    with Broker(data_dir=data_dir, overrides=SETTINGS) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        topics = [NewTopic(topic, 1, 1) for topic in [*TOPICS, WIDE]]
        compacted = {"cleanup.policy": "compact", "segment.ms": str(SEGMENT_MS)}
        topics += [NewTopic(topic, 1, 1, config=compacted) for topic in TABLES]
        for made in admin.create_topics(topics).values():
            made.result(60)
        broker.stop()
    plant(data_dir)


def by_librdkafka(servers: str, topic: str) -> Seen:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "enable.partition.eof": True,
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: Seen = []
    while True:
        record = consumer.poll(60)
        assert record is not None, f"nothing behind {found[-1:]} of {topic}"
        if record.error() is not None:
            assert error_of(record).code() == KafkaError._PARTITION_EOF, record.error()
            consumer.close()
            return found
        found.append((offset_of(record), record.key(), record.value(), record.timestamp()[1]))


def by_kafka_python(servers: str, topic: str) -> Seen:
    partition = KafkaPythonPartition(topic, 0)
    consumer = KafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest")
    consumer.assign([partition])
    end = consumer.end_offsets([partition])[partition]
    found: Seen = []
    while not found or found[-1][0] < end - 1:
        for records in consumer.poll(60_000).values():
            found += [(r.offset, r.key, r.value, r.timestamp) for r in records]
    consumer.close()
    return found


def by_java(servers: str, topic: str, count: int) -> list[tuple[int, bytes, bytes]]:
    printed = run_tool(
        CONSOLE_CONSUMER,
        *("--bootstrap-server", servers, "--topic", topic, "--from-beginning"),
        *("--max-messages", str(count), "--timeout-ms", "60000"),
        *("--formatter-property", "print.offset=true", "--formatter-property", "print.key=true"),
    )
    found = []
    for line in printed.splitlines():
        offset, key, value = line.split("\t")
        found.append((int(offset.removeprefix("Offset:")), key.encode(), value.encode()))
    return found


def expected(topic: str, count: int = COUNT) -> Seen:
    magic, _ = TOPICS[topic]
    return [(n, b"k%d" % n, b"v%d" % n, OLD_MS + n % 20 if magic else -1) for n in range(count)]


def without_times(seen: Seen) -> list[tuple[int, bytes | None, bytes | None]]:
    return [entry[:3] for entry in seen]


def check_all(servers: str, count: int = COUNT) -> None:
    for topic in TOPICS:
        wanted = expected(topic)
        found = by_librdkafka(servers, topic)
        assert without_times(found[:COUNT]) == without_times(wanted), topic
        if TOPICS[topic][0]:
            assert found[:COUNT] == wanted, topic
        assert [entry[0] for entry in found[COUNT:]] == list(range(COUNT, count))


def find_times(servers: str) -> dict[str, int]:
    """The first offset at or behind a time in the old records."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "times"})
    asked = [TopicPartition(topic, 0, OLD_MS + 7) for topic in TOPICS]
    found = {p.topic: p.offset for p in consumer.offsets_for_times(asked, timeout=60)}
    consumer.close()
    return found


def produce(servers: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for topic in TOPICS:
        producer.produce(topic, b"new", b"key", 0)
    assert producer.flush(60) == 0


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = tmp_path_factory.mktemp("old") / "data"
    make_directory(data_dir)
    return data_dir


@pytest.mark.parametrize("is_clean", [True, False])
def test_clients_read_old_formats(planted: Path, tmp_path: Path, is_clean: bool) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(planted, data_dir)
    if not is_clean:
        (data_dir / ".kafka_cleanshutdown").unlink()
    with Broker(data_dir=data_dir, overrides=SETTINGS) as broker:
        servers = broker.bootstrap_servers
        check_all(servers)
        for topic in TOPICS.keys() - {"old-0-lz4"}:  # kafka-python needs xxhash for that one
            assert without_times(by_kafka_python(servers, topic)) == without_times(expected(topic))
        assert find_times(servers) == {
            topic: 7 if magic else -1 for topic, (magic, _) in TOPICS.items()
        }
        produce(servers)
        broker.kill()
        broker.restart()
        check_all(broker.bootstrap_servers, COUNT + 1)
        assert "Traceback" not in broker.log_text
    for topic, (magic, codec) in TOPICS.items():
        first = data_dir / f"{topic}-0" / FIRST_SEGMENT
        assert first.read_bytes() == old_segment(magic, codec, 0)


@pytest.mark.parametrize("topic", ["old-0-lz4", "old-1-snappy"])
def test_apaches_consumer_reads_them(planted: Path, tmp_path: Path, topic: str) -> None:
    shutil.copytree(planted, tmp_path / "data")
    with Broker(data_dir=tmp_path / "data", overrides=SETTINGS) as broker:
        found = by_java(broker.bootstrap_servers, topic, COUNT)
    assert found == without_times(expected(topic))


def test_apache_answers_the_same(planted: Path, tmp_path: Path) -> None:
    """The hand-made segments are what Kafka itself takes for its own old formats."""
    answers = []
    for number, node_of in enumerate((ours, apaches)):
        data_dir = tmp_path / str(number)
        shutil.copytree(planted, data_dir)
        (data_dir / ".kafka_cleanshutdown").unlink()
        with node_of(data_dir) as node:
            servers = node.bootstrap_servers
            produce(servers)
            seen = {topic: by_librdkafka(servers, topic)[:COUNT] for topic in TOPICS}
            assert [entry[0] for entry in by_librdkafka(servers, WIDE)] == WIDE_OFFSETS
            names = {path.name for path in (data_dir / f"{WIDE}-0").glob("*.log")}
            assert names == {f"{base:020d}.log" for base in (0, FAR, 3 * FAR)}
            times = find_times(servers)
            # Apache takes the time of the file for that of records without one, and finds nothing.
            assert {times[f"old-0-{CODEC_NAMES[c]}"] for c in CODECS} == {(COUNT, -1)[number]}
            answers.append((seen, [times[topic] for topic in TOPICS if TOPICS[topic][0]]))
    assert answers[0] == answers[1]


def ours(data_dir: Path) -> Any:
    return Broker(data_dir=data_dir, overrides=SETTINGS)


def apaches(data_dir: Path) -> Any:
    return ApacheBroker(data_dir, config=SETTINGS)


def produce_twice(servers: str) -> None:
    """The second record is later than segment.ms: it rolls the segment, so that the one with the
    first is cleaned as well. A segment of magic 0, without times, is rolled when it has been open
    for segment.ms: the first record must not come before."""
    time.sleep(3 * SEGMENT_MS / 1000)
    producer = Producer({"bootstrap.servers": servers})
    now_ms = int(time.time() * 1000)
    for timestamp in (now_ms - 1000, now_ms):
        for topic in TABLES:
            producer.produce(topic, b"new", b"k3", 0, timestamp=timestamp)
        assert producer.flush(60) == 0


def is_compacted(data_dir: Path, servers: str) -> bool:
    """Whether the cleaner has been over both old segments: it may clean the first one alone before
    the second is closed. What it writes is of magic 2. A segment has no file of its name while the
    cleaned one takes its place.
    """
    try:
        magics = [(data_dir / f"{topic}-0" / FIRST_SEGMENT).read_bytes()[16] for topic in TABLES]
    except FileNotFoundError:
        return False
    return set(magics) == {2} and all(
        [entry[0] for entry in by_librdkafka(servers, topic)] == KEPT for topic in TABLES
    )


def test_both_compact_to_the_same(planted: Path, tmp_path: Path) -> None:
    answers = []
    for number, node_of in enumerate((ours, apaches)):
        data_dir = tmp_path / str(number)
        shutil.copytree(planted, data_dir)
        with node_of(data_dir) as node:
            servers = node.bootstrap_servers
            produce_twice(servers)
            wait_for(partial(is_compacted, data_dir, servers), "compaction")
            answers.append({topic: by_librdkafka(servers, topic) for topic in TABLES})
    for topic, (magic, _) in TABLES.items():
        seen = answers[0][topic]
        assert without_times(seen) == without_times(answers[1][topic])
        assert [entry[0] for entry in seen] == KEPT
        if magic:
            assert seen[:-2] == answers[1][topic][:-2]
        assert [entry[3] for entry in seen[:-2]] == [
            OLD_MS + entry[0] % 20 if magic else -1 for entry in seen[:-2]
        ]


@pytest.mark.parametrize("flags", [(), ("--print-data-log",)])
def test_both_dump_the_same(flags: tuple[str, ...], planted: Path) -> None:
    files = ",".join(str(planted / f"{topic}-0" / f"{20:020d}.log") for topic in TOPICS)
    command = [sys.executable, "-m", "pykbroker", "dump-log", "--files", files, *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout == run_tool(DUMP_LOG, "--files", files, *flags)
