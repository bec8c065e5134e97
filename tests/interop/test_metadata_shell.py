"""kafka-metadata-shell: Apache's shell shows what our metadata logs and snapshots hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.testing import Broker
from tests.harness import apache
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.replicated import in_sync, wait_until
from tests.harness.tools import shell_classpath


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


def shown(path: Path, *command: str) -> str:
    """What it prints. It may print before it has been told all; then it is asked again."""
    outputs = []

    def is_shown() -> bool:
        done = shell(path, *command)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
        return bool(done.stdout.strip()) and "offset -1" not in done.stdout

    wait_until(is_shown, f"{command} on {path}")
    return outputs[-1]


def metadata_files(directory: Path, ending: str) -> list[Path]:
    return sorted((directory / "__cluster_metadata-0").glob(f"*.{ending}"))


def test_log_and_snapshot_of_our_node(tmp_path: Path) -> None:
    with Broker(
        data_dir=tmp_path / "data", metadata_log_max_record_bytes_between_snapshots=500
    ) as broker:
        broker.create_topics({"orders": 2})
        broker.create_topics([f"topic-{number}" for number in range(20)])
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        topic_ids = {
            name: str(at.result().topic_id)
            for name, at in admin.describe_topics(TopicCollection(["orders"])).items()
        }
        directory = Path(broker.data_dir)
        (segment,) = metadata_files(directory, "log")
        refused = shell(segment, "ls", "/image")
        assert refused.returncode == 1
        assert "Please ensure that no broker or controller process is using" in refused.stderr
        broker.stop()
        text = shown(segment, "tree", "/image")
        names = [line.strip() for line in text.splitlines()]
        assert names.count("orders:") == 1
        assert names.count(topic_ids["orders"]) == 2  # by id, and by name
        assert "Optional[4.4-IV2]" in names
        assert f"port={broker.port})" in text
        newest = metadata_files(directory, "checkpoint")[-1]
        listed = shown(newest, "ls", "/image/topics/byName").split()
        assert set(listed) == {"orders", *(f"topic-{number}" for number in range(20))}
        part = shown(newest, "cat", "/image/topics/byName/orders/1")
        assert part.startswith("PartitionRegistration(replicas=[1], ")


def test_nodes_of_both_kinds_hold_the_same(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, OURS, APACHE, OURS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("shared", 3, 3)], request_timeout=60)["shared"].result()
        in_sync(cluster.bootstrap_servers, "shared", 3)
        for node in cluster.nodes:
            node.kill()
        parts = ("/image/cluster/controllers", "/image/features", "/image/topics/byName/shared/id")
        first, *others = (shown(node.metadata_files[-1], "tree", *parts) for node in cluster.nodes)
        assert "shared" not in first
        assert others == [first, first]
