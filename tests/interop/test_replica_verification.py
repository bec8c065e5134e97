"""kafka-replica-verification: Apache's tool reads every replica and compares the batches."""

from __future__ import annotations

import re
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.protocol.crc32c import crc32c
from pykbroker.testing import Cluster
from tests.harness import apache
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.replicated import Stream, in_sync

PATIENCE_SECONDS = 240.0
RECORDS = 900
REPORT = re.compile(r"max lag is (-?\d+) for partition (.+)-(\d+) at offset (\d+) among (\d+) ")
CRC_AT = 17
CRC_FROM = 21


@contextmanager
def verification(servers: str, topic: str) -> Iterator[IO[str]]:
    """The lines of the tool, which verifies a topic from its beginning until the block ends."""
    command = apache.java_command(
        apache.REPLICA_VERIFICATION,
        *("--broker-list", servers, "--topics-include", topic, "--time", "-2"),
        *("--report-interval-ms", "200", "--max-wait-ms", "100"),
    )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    timer = threading.Timer(PATIENCE_SECONDS, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        yield process.stdout
    finally:
        timer.cancel()
        process.kill()
        process.communicate()


def filled(servers: str, topic: str) -> None:
    """Three partitions with three replicas, and records in batches of one and of several."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 3, 3)], request_timeout=60)[topic].result()
    in_sync(servers, topic, 3)
    stream = Stream(servers, topic)
    for first in range(0, RECORDS, 100):
        stream.send(range(first, first + 100))
    assert stream.failed == []


def assert_agrees(servers: str, topic: str) -> re.Match[str]:
    """Every replica is verified up to its end, and nothing differs; the tool's report."""
    seen = []
    with verification(servers, topic) as lines:
        for line in lines:
            seen.append(line)
            assert "match" not in line, "".join(seen)
            found = REPORT.search(line)
            if found and found[1] == "0":
                return found
    raise AssertionError("".join(seen))


def assert_clean(servers: str, topic: str) -> None:
    """Everything is verified up to the high watermarks, and nothing differs."""
    found = assert_agrees(servers, topic)
    assert found[5] == "3"
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "ends"})
    at = TopicPartition(found[2], int(found[3]))
    assert consumer.get_watermark_offsets(at, timeout=60)[1] == int(found[4])
    consumer.close()


def test_three_of_ours() -> None:
    with Cluster(3) as cluster:
        servers = cluster.bootstrap_servers
        filled(servers, "ours")
        assert_clean(servers, "ours")
        node = cluster.nodes[2]
        node.stop()
        change_a_record(Path(node.data_dir) / "ours-0" / "00000000000000000000.log")
        node.start()
        in_sync(servers, "ours", 3)
        with verification(servers, "ours") as lines:
            assert any("unmatched checksum" in line for line in lines)


def change_a_record(path: Path) -> None:
    """As no broker would: another last byte in the first batch, with a checksum that fits."""
    content = bytearray(path.read_bytes())
    (length,) = struct.unpack_from(">i", content, 8)
    end = 12 + length
    content[end - 2] ^= 1  # the last byte is the number of headers
    struct.pack_into(">I", content, CRC_AT, crc32c(bytes(content[CRC_FROM:end])))
    path.write_bytes(content)


def test_both_kinds_of_nodes(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, APACHE, OURS, OURS) as cluster:
        filled(cluster.bootstrap_servers, "mixed")
        assert_clean(cluster.bootstrap_servers, "mixed")
