"""Log directories between Apache Kafka 4.4 and our log floor, without a broker of ours.

Ours for theirs: DumpLogSegments checks every file that our logs wrote, with all codecs, aborted
and committed transactions, several segments. Theirs for ours: what an Apache broker left behind,
stopped or killed, is opened by our LogManager and holds the same records; we write on, and Apache
starts on the directory again and finds everything.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.log.partition.partition_log import AppendOrigin, PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol.control_records import ABORT, COMMIT, EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import build_batch, iter_batches, iter_records
from pykbroker.types import TopicPartition as Partition
from tests.harness.apache import DUMP_LOG, ApacheBroker, run_tool
from tests.harness.consumed import error_of, value_of
from tests.harness.markers import await_markers

TOPIC = "moved"
NOW_MS = int(time.time() * 1000)


def fill(log: PartitionLog) -> int:
    """Batches of every codec, plain, idempotent and in transactions; the log end offset."""
    sequence = 0
    for number in range(40):
        records = [
            (
                b"key-%d" % n if n % 3 else None,
                b"value-%d-%d" % (number, n) * 40,
                NOW_MS + number,
                (),
            )
            for n in range(10)
        ]
        in_transaction = number % 4 == 3
        producer: dict[str, Any]
        producer = {"producer_id": 77, "producer_epoch": 2, "base_sequence": sequence}
        batch = build_batch(
            records,
            codec=number % 5,
            is_transactional=in_transaction,
            **(producer if number % 4 >= 2 else {}),
        )
        sequence += 10 if number % 4 >= 2 else 0
        assert log.append_as_leader(batch, 1 + number // 20, NOW_MS).error == 0
        if in_transaction:
            marker = EndTxnMarker(ABORT if number % 8 == 3 else COMMIT, 1)
            control = build_marker_batch(
                marker, producer_id=77, producer_epoch=2, timestamp_ms=NOW_MS + number
            )
            outcome = log.append_as_leader(control, 1, NOW_MS, AppendOrigin.COORDINATOR)
            assert outcome.error == 0, outcome.error_message
        log.write_pending()
        if number % 15 == 14:
            log.roll(NOW_MS)
    return log.log_end_offset


def dump(*arguments: str) -> str:
    output = run_tool(DUMP_LOG, *arguments, check=False)
    # The tool says this of any segment that does not begin at 0.
    output = re.sub(r"Non-consecutive offsets in \S+\n  -1 is followed by \d+\n", "", output)
    for bad in ("Exception", "mismatch", "Mismatch", "Non-consecutive", "isvalid: false", "rror"):
        assert bad not in output, output[-3000:]
    return output


def test_apache_checks_what_we_wrote(tmp_path: Path) -> None:
    directory = tmp_path / "moved-0"
    config = TopicConfig.default(index_interval_bytes="1000")
    log = open_log(
        RealFiles(), str(directory), Partition(TOPIC, 0), config, now_ms=NOW_MS, topic_id=b"t" * 16
    )
    end = fill(log)
    log.close()

    logs = ",".join(str(path) for path in sorted(directory.glob("*.log")))
    assert logs.count(",") == 2
    output = dump("--files", logs, "--deep-iteration", "--print-data-log")
    assert output.count("| offset: ") == end
    assert "endTxnMarker: ABORT" in output
    indexes = sorted([*directory.glob("*.index"), *directory.glob("*.timeindex")])
    assert len(indexes) == 6
    assert all(path.stat().st_size for path in indexes)
    names = ",".join(str(path) for path in indexes)
    output = dump("--files", names, "--index-sanity-check")
    assert output.count("passed sanity check") == 6
    dump("--files", names, "--verify-index-only")
    aborted = sorted(directory.glob("*.txnindex"))
    assert aborted
    output = dump("--files", ",".join(map(str, aborted)))
    assert len(re.findall(r"producerId: 77 firstOffset: ", output)) == 5
    snapshots = sorted(directory.glob("*.snapshot"))
    output = dump("--files", ",".join(map(str, snapshots)))
    assert "producerId: 77 producerEpoch: 2" in output


def produce(servers: str, start: int, count: int, codec: str, idempotent: bool) -> None:
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "enable.idempotence": idempotent,
            "linger.ms": 5,
        }
    )
    for number in range(start, start + count):
        producer.produce(TOPIC, b"%d" % number, b"k%d" % (number % 7), timestamp=NOW_MS + number)
    assert producer.flush(60) == 0


def transaction(servers: str, start: int, count: int, commit: bool) -> None:
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "mover"})
    producer.init_transactions(60)
    producer.begin_transaction()
    for number in range(start, start + count):
        producer.produce(TOPIC, b"%d" % number, timestamp=NOW_MS + number)
    producer.flush(60)
    if commit:
        producer.commit_transaction(60)
    else:
        producer.abort_transaction(60)


def consumed(servers: str, isolation: str) -> list[int]:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "mover",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[int] = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            found.append(int(value_of(message)))
        elif message is not None and error_of(message).code() == KafkaError._PARTITION_EOF:
            break
    consumer.close()
    return found


def load(data_dir: Path) -> LogManager:
    config = BrokerConfig.from_properties(standalone_properties(str(data_dir)))
    manager = LogManager(
        [str(data_dir)], config, RealFiles(), topic_config=lambda _: TopicConfig.default()
    )
    manager.load(NOW_MS)
    return manager


def values(log: PartitionLog) -> list[int]:
    """The values of all records that are no control records."""
    found = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        outcome = log.read(offset, 1 << 20, log.log_end_offset)
        assert outcome.slice is not None
        for header, batch in iter_batches(outcome.slice.read(), partial_tail=True):
            if not header.is_control:
                found += [int(record.value or b"") for record in iter_records(batch)]
            offset = header.next_offset
    return found


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_there_and_back_again(ending: str, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with ApacheBroker(data_dir, config={"log.index.interval.bytes": "500"}) as apache:
        servers = apache.bootstrap_servers
        topic = NewTopic(TOPIC, 1, 1, config={"segment.bytes": "1048576", "retention.ms": "-1"})
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([topic])[TOPIC].result(60)
        for index, codec in enumerate(("none", "gzip", "snappy", "lz4", "zstd")):
            produce(servers, index * 1000, 1000, codec, codec in ("none", "lz4"))
        transaction(servers, 5000, 10, commit=True)
        transaction(servers, 5010, 10, commit=False)
        await_markers(servers, TOPIC, 0)
        before = consumed(servers, "read_uncommitted")
        assert before == list(range(5020))
        apache.stop() if ending == "stopped" else apache.kill()

        manager = load(data_dir)
        assert manager.directories[0].was_clean is (ending == "stopped")
        assert manager.directories[0].meta is not None
        log = manager.get(Partition(TOPIC, 0))
        assert log is not None
        assert log.topic_id is not None
        assert values(log) == before
        assert log.offset_for_timestamp(NOW_MS + 4321) == (4321, NOW_MS + 4321, 0)
        assert log.last_stable_offset(log.log_end_offset) == log.log_end_offset
        (aborted,) = log.aborted_transactions(0, log.log_end_offset)
        assert 5010 <= aborted[1] <= 5012
        batch = build_batch([(None, b"%d" % n, NOW_MS + n, ()) for n in range(5020, 5100)])
        assert log.append_as_leader(batch, 9, NOW_MS).error == 0
        log.write_pending()
        if ending == "stopped":
            manager.shutdown(NOW_MS, broker_epoch=5)
        else:
            manager.directories.unlock()

        apache.start()
        assert consumed(servers, "read_uncommitted") == list(range(5100))
        assert consumed(servers, "read_committed") == [
            n for n in range(5100) if not 5010 <= n < 5020
        ]
        assert "WARN" not in apache_faults(apache.server_log())


def apache_faults(text: str) -> str:
    """The lines in which Apache complains about the log of our topic."""
    words = ("corrupt", "orphaned", "Could not find", "Truncat", "Ignoring")
    return "\n".join(
        line for line in text.splitlines() if TOPIC in line and any(word in line for word in words)
    )
