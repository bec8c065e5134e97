"""kafka-metadata-shell: Apache's shell shows what our metadata logs and snapshots hold."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.offline import cluster_metadata
from pykbroker.testing import Broker
from tests.harness import apache
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster, MixedNode
from tests.harness.replicated import in_sync
from tests.harness.tools import shell_classpath
from tests.harness.waiting import wait_for

# librdkafka writes an id in plain base64, Kafka in the alphabet that is safe in addresses.
URL_SAFE = str.maketrans("+/", "-_")


def shell(path: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """One command of the shell on a segment of the metadata log, or on a snapshot."""
    return subprocess.run(
        apache.java_command(
            apache.METADATA_SHELL, "--snapshot", str(path), *command, classpath=shell_classpath()
        ),
        capture_output=True,
        text=True,
        timeout=300,
    )


def shown(path: Path, wanted: Callable[[str], bool], *command: str) -> str:
    """What it prints once that is as wanted. It may print before it has been told all."""
    outputs: list[str] = []

    def is_wanted() -> bool:
        done = shell(path, *command)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
        return wanted(done.stdout)

    wait_for(is_wanted, f"{command} on {path}")
    return outputs[-1]


def id_of(admin: AdminClient, topic: str) -> str:
    """Of a topic, as Kafka writes it."""
    described = admin.describe_topics(TopicCollection([topic]))[topic].result()
    return str(described.topic_id).translate(URL_SAFE)


def metadata_files(directory: Path, ending: str) -> list[Path]:
    return sorted((directory / "__cluster_metadata-0").glob(f"*.{ending}"))


def has_all_topics(directory: Path) -> bool:
    """Whether the newest snapshot has the topics that were created last, all in one batch."""
    found = metadata_files(directory, "checkpoint")
    return bool(found) and b"topic-19" in found[-1].read_bytes()


def test_log_and_snapshot_of_our_node(tmp_path: Path) -> None:
    with Broker(
        data_dir=tmp_path / "data", metadata_log_max_record_bytes_between_snapshots=500
    ) as broker:
        broker.create_topics({"orders": 2})
        broker.create_topics([f"topic-{number}" for number in range(20)])
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        topic_id = id_of(admin, "orders")
        directory = Path(broker.data_dir)
        (segment,) = metadata_files(directory, "log")
        wait_for(lambda: has_all_topics(directory), "a snapshot with all topics")
        refused = shell(segment, "ls", "/image")
        assert refused.returncode == 1
        assert "Please ensure that no broker or controller process is using" in refused.stderr
        broker.stop()

        def is_whole(text: str) -> bool:
            names = [line.strip() for line in text.splitlines()]
            return (
                names.count("orders:") == 1
                and names.count(topic_id) == 2  # by id, and by name
                and "Optional[4.4-IV2]" in names
                and f"port={broker.port})" in text
            )

        shown(segment, is_whole, "tree", "/image")
        topics = {"orders", *(f"topic-{number}" for number in range(20))}
        newest = metadata_files(directory, "checkpoint")[-1]
        shown(newest, lambda text: set(text.split()) == topics, "ls", "/image/topics/byName")
        part = "PartitionRegistration(replicas=[1], "
        shown(newest, lambda text: text.startswith(part), "cat", "/image/topics/byName/orders/1")


def has_registered(node: MixedNode, controllers: int) -> bool:
    """Whether its metadata log has the registrations of so many controllers."""
    rows = cluster_metadata(str(node.data_dir)).to_pylist()
    found = [row["value_json"] for row in rows if row["record_type"] == "RegisterControllerRecord"]
    return len({json.loads(text)["controllerId"] for text in found}) == controllers


def test_nodes_of_both_kinds_hold_the_same(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, OURS, APACHE, OURS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("shared", 3, 3)], request_timeout=60)["shared"].result()
        in_sync(cluster.bootstrap_servers, "shared", 3)
        topic_id = id_of(admin, "shared")
        for node in cluster.nodes:
            wait_for(partial(has_registered, node, 3), f"three controllers of node {node.id}")
        for node in cluster.nodes:
            node.kill()
        parts = ("/image/cluster/controllers", "/image/features", "/image/topics/byName/shared/id")

        def is_whole(text: str) -> bool:
            names = [line.strip() for line in text.splitlines()]
            assert "shared" not in names
            return text.count("ControllerRegistration(") == 3 and names[-1] == topic_id

        trees = {shown(node.metadata_files[-1], is_whole, "tree", *parts) for node in cluster.nodes}
        assert len(trees) == 1
