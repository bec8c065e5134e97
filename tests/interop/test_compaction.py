"""The same log through Apache's cleaner and ours leaves the same batches, records and markers.

And a compacted topic of a running broker, seen by a stock client."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.compaction.cleaner_state import CleanerState
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.control_records import ABORT, COMMIT
from tests.harness.apache import java_command
from tests.harness.consumed import error_of, offset_of
from tests.log.compaction.compaction_makers import (
    DAY,
    NOW,
    PARTITION,
    Writer,
    clean,
    open_accounts,
    stored,
)

ORACLE = Path(__file__).parent / "java" / "CleanerOracle.java"
SEGMENT_BYTES = 2000


def fill(log: PartitionLog, dice: random.Random) -> None:
    """Keys, tombstones, all codecs, idempotent producers, transactions of both ends."""
    writer = Writer(log)
    open_transactions: set[int] = set()
    for _ in range(300):
        entries = [
            (b"key-%d" % dice.randrange(25), None if dice.random() < 0.2 else dice.randbytes(20))
            for _ in range(dice.randrange(1, 6))
        ]
        kind = dice.random()
        producer = dice.randrange(5)
        if kind < 0.5:
            times: dict[str, Any]
            times = {"timestamp": NOW - dice.randrange(1000), "apart_ms": dice.choice((0, 7, -90))}
            writer.put(entries, codec=dice.randrange(5), **times)
        elif kind < 0.7:
            writer.put(entries, codec=dice.randrange(5), producer=10 + producer)
        elif kind < 0.9:
            writer.put(entries, producer=producer, transactional=True)
            open_transactions.add(producer)
        elif open_transactions:
            ended = open_transactions.pop()
            writer.end(ended, ABORT if dice.random() < 0.5 else COMMIT)
    for ended in sorted(open_transactions):
        writer.end(ended, COMMIT)
    for number in range(40):
        writer.put([(b"end", b"%d" % number)])


def apache_cleans(directory: Path, now_ms: int, first_dirty: int) -> int:
    """One round of Apache's cleaner; the new first dirty offset."""
    settings = [str(now_ms), str(DAY), str(SEGMENT_BYTES), str(first_dirty)]
    command = java_command(str(ORACLE), str(directory), *settings, heap="512m")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split()[0])


def reopen(root: Path) -> PartitionLog:
    config = TopicConfig.default(
        cleanup_policy="compact", min_cleanable_dirty_ratio="0", index_interval_bytes="100"
    )
    config.segment_bytes = SEGMENT_BYTES
    return open_log(RealFiles(), str(root / "accounts-0"), PARTITION, config, now_ms=NOW)


def left_in(log: PartitionLog) -> list[tuple[object, ...]]:
    """All that a consumer, a producer or a follower could tell apart."""
    return [
        (
            header.base_offset,
            header.last_offset,
            header.partition_leader_epoch,
            header.codec,
            header.attributes & ~7,
            header.base_timestamp,
            header.max_timestamp,
            header.delete_horizon_ms,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            [(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in batch],
        )
        for header, batch in stored(log)
    ]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_three_rounds_of_both_cleaners_leave_the_same(tmp_path: Path, seed: int) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    log = open_accounts(RealFiles(), str(ours), SEGMENT_BYTES)
    fill(log, random.Random(seed))
    before = len(left_in(log))
    log.close()
    shutil.copytree(ours, theirs)

    for round_number, now_ms in enumerate((NOW, NOW + DAY + 1, NOW + 2 * DAY + 2)):
        apache_end = apache_cleans(theirs / "accounts-0", now_ms, 0)
        log = reopen(ours)
        result = clean(log, CleanerState(), now_ms)
        assert result is not None
        assert result.end_offset == apache_end
        apache_log = reopen(theirs)
        found = left_in(log)
        assert found == left_in(apache_log), f"round {round_number}"
        assert len(found) < before
        assert log.segments.base_offsets == apache_log.segments.base_offsets
        aborted = (0, log.log_end_offset)
        assert log.aborted_transactions(*aborted) == apache_log.aborted_transactions(*aborted)
        log.close()
        apache_log.close()


def test_apache_goes_on_from_our_round_as_we_do(tmp_path: Path) -> None:
    """Its loader, indexes included, and its cleaner take files that we cleaned."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    log = open_accounts(RealFiles(), str(ours), SEGMENT_BYTES)
    fill(log, random.Random(9))
    assert clean(log, CleanerState(), NOW) is not None
    log.close()
    shutil.copytree(ours, theirs)
    apache_cleans(theirs / "accounts-0", NOW + DAY, 0)
    log = reopen(ours)
    assert clean(log, CleanerState(), NOW + DAY) is not None
    assert left_in(log) == left_in(reopen(theirs))


def read_all(servers: str, topic: str) -> list[tuple[bytes | None, bytes | None, int]]:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"reader-{time.monotonic_ns()}",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: list[tuple[bytes | None, bytes | None, int]] = []
    while True:
        message = consumer.poll(60)
        assert message is not None
        if message.error():
            assert error_of(message).code() == KafkaError._PARTITION_EOF
            consumer.close()
            return found
        found.append((message.key(), message.value(), offset_of(message)))


def test_a_compacted_topic_of_a_running_broker(make_broker: Callable[..., Any]) -> None:
    keys, rounds = 300, 12
    with make_broker({"log.cleaner.backoff.ms": "100"}) as broker:
        servers = broker.bootstrap_servers
        settings = {
            "cleanup.policy": "compact",
            "segment.bytes": "1048576",
            "min.cleanable.dirty.ratio": "0.01",
            "compression.type": "lz4",
        }
        topic = NewTopic("tables", 1, 1, config=settings)
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([topic])["tables"].result(60)
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        dice = random.Random(5)
        latest: dict[bytes, bytes | None] = {}
        for _ in range(rounds):
            for number in range(keys):
                key = b"key-%d" % number
                latest[key] = None if dice.random() < 0.1 else dice.randbytes(1200)
                producer.produce("tables", latest[key], key)
            assert producer.flush(60) == 0
        deadline = time.monotonic() + 300
        while len(found := read_all(servers, "tables")) > keys * rounds // 2:
            assert time.monotonic() < deadline, len(found)
        check_table(found, latest)
        broker.kill()
        broker.restart()
        again = read_all(broker.bootstrap_servers, "tables")
        check_table(again, latest)
        assert len(again) <= len(found)


def check_table(
    found: list[tuple[bytes | None, bytes | None, int]], latest: dict[bytes, bytes | None]
) -> None:
    offsets = [offset for _, _, offset in found]
    assert offsets == sorted(set(offsets))
    assert {key: value for key, value, _ in found} == latest
