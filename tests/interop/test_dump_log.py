"""Apache's DumpLogSegments reads every file a broker leaves, and our dump-log prints the same.

The directory holds all codecs, null keys and values, headers, an idempotent producer, committed
offsets, several segments (also their producer snapshots) and the metadata log.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.apache import DUMP_LOG, run_tool
from tests.interop.samples import CODECS, samples

TOPIC = "dumped"


@pytest.fixture(scope="module")
def log_dir(make_broker) -> Iterator[Path]:
    """The data directory of a broker that was used and stopped cleanly."""
    with make_broker({"log.segment.bytes": "1048576"}) as broker:
        servers = broker.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(60)
        for codec in CODECS:
            _produce(servers, codec)
        _consume_and_commit(servers)
        broker.stop()
        yield Path(broker.data_dir)


def _produce(servers: str, codec: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": servers,
            "compression.type": codec,
            "enable.idempotence": codec == "none",
            "linger.ms": 20,
        }
    )
    for s in samples(700):
        producer.produce(TOPIC, s.value, s.key, headers=list(s.headers), timestamp=s.timestamp_ms)
    producer.produce(TOPIC, random.Random(codec).randbytes(400_000).hex().encode(), b"big")
    assert producer.flush(60) == 0


def _consume_and_commit(servers: str) -> None:
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "dump", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    deadline = time.monotonic() + 120
    while not consumer.consume(100, timeout=0.5):
        assert time.monotonic() < deadline
    consumer.commit(asynchronous=False)
    consumer.close()


def _ours(*arguments: str) -> str:
    command = [sys.executable, "-m", "pykbroker", "dump-log", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def _files(directory: Path, *suffixes: str) -> str:
    files = sorted(str(path) for path in directory.iterdir() if path.suffix in suffixes)
    assert files, f"no {suffixes} in {directory}"
    return ",".join(files)


def _assert_clean(output: str) -> None:
    assert "isvalid: false" not in output
    for complaint in ("Could not", "Mismatches", "out of order", "Found", "Exception"):
        assert complaint not in output, output[:3000]


def test_records_of_every_codec(log_dir: Path):
    directory = log_dir / f"{TOPIC}-0"
    arguments = ("--print-data-log", "--deep-iteration", "--files", _files(directory, ".log"))
    theirs = run_tool(DUMP_LOG, *arguments)
    _assert_clean(theirs)
    for codec in CODECS:
        assert f"compresscodec: {codec}" in theirs
    assert len(re.findall(r"^Dumping ", theirs, re.MULTILINE)) >= 3
    assert _ours(*arguments) == theirs


def test_batch_headers_alone(log_dir: Path):
    arguments = ("--files", _files(log_dir / f"{TOPIC}-0", ".log"))
    assert _ours(*arguments) == run_tool(DUMP_LOG, *arguments)


@pytest.mark.parametrize("flag", ["--verify-index-only", "--index-sanity-check", None])
def test_indexes(log_dir: Path, flag: str | None):
    files = _files(log_dir / f"{TOPIC}-0", ".index", ".timeindex")
    arguments = ("--files", files, *([flag] if flag else []))
    theirs = run_tool(DUMP_LOG, *arguments)
    _assert_clean(theirs)
    assert _ours(*arguments) == theirs


def test_producer_snapshots(log_dir: Path):
    arguments = ("--files", _files(log_dir / f"{TOPIC}-0", ".snapshot"))
    theirs = run_tool(DUMP_LOG, *arguments)
    assert "producerId: " in theirs
    assert _ours(*arguments) == theirs


def test_committed_offsets(log_dir: Path):
    logs = [
        str(path)
        for path in sorted(log_dir.glob("__consumer_offsets-*/*.log"))
        if path.stat().st_size
    ]
    assert logs
    arguments = ("--print-data-log", "--offsets-decoder", "--files", ",".join(logs))
    theirs = run_tool(DUMP_LOG, *arguments)
    _assert_clean(theirs)
    assert '"group":"dump"' in theirs
    assert _ours(*arguments) == theirs


def test_the_metadata_log_and_its_snapshots(log_dir: Path):
    files = _files(log_dir / "__cluster_metadata-0", ".log", ".checkpoint")
    arguments = ("--cluster-metadata-decoder", "--files", files)
    theirs = run_tool(DUMP_LOG, *arguments)
    _assert_clean(theirs)
    for kind in ("LeaderChange", "TOPIC_RECORD", "PARTITION_RECORD", "REGISTER_BROKER_RECORD"):
        assert kind in theirs
    assert _ours(*arguments) == theirs
