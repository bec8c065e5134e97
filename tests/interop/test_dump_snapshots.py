"""`dump-log --cluster-metadata-decoder` prints of metadata snapshots what Apache's tool prints."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from tests.harness.apache import DUMP_LOG, run_tool
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.waiting import wait_for

FLAGS = (("--cluster-metadata-decoder",), ("--cluster-metadata-decoder", "--skip-record-metadata"))
KINDS = (
    "CONFIG_RECORD",
    "FEATURE_LEVEL_RECORD",
    "PARTITION_RECORD",
    "REGISTER_BROKER_RECORD",
    "REGISTER_CONTROLLER_RECORD",
    "TOPIC_RECORD",
)
SETTING = "77777"


def fill(servers: str) -> None:
    """Topics with partitions, and settings of a topic and of brokers."""
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [NewTopic(f"t-{number}", 2, 3) for number in range(3)]
    for made in admin.create_topics(topics, request_timeout=30).values():
        made.result()
    for entity, setting in (
        (("--topic", "t-1"), f"retention.ms={SETTING}"),
        (("--entity-type", "brokers", "--entity-default"), "message.max.bytes=1000001"),
    ):
        changed = ("--alter", *entity, "--add-config", setting)
        assert main(["configs", "--bootstrap-server", servers, *changed]) == 0


def snapshots(directory: Path) -> list[Path]:
    """Those that hold what `fill` has written."""
    found = sorted(directory.glob("__cluster_metadata-0/*.checkpoint"))
    return [path for path in found if SETTING.encode() in path.read_bytes()]


def test_snapshots_of_both_kinds_of_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MixedCluster(
        *(tmp_path, APACHE, OURS, OURS),
        is_dynamic=True,
        metadata_log_max_record_bytes_between_snapshots="2000",
    ) as cluster:
        fill(cluster.bootstrap_servers)
        places = [Path(node.data_dir) for node in cluster.nodes]
        for number, place in enumerate(places, 1):
            wait_for(partial(snapshots, place), f"a snapshot of node {number}")
    for place in places:
        newest = snapshots(place)[-1]
        for flags in FLAGS:
            capsys.readouterr()
            assert main(["dump-log", *flags, "--files", str(newest)]) == 0
            captured = capsys.readouterr()
            ours = captured.out.splitlines()
            assert ours == run_tool(DUMP_LOG, *flags, "--files", str(newest)).splitlines()
            assert captured.err == ""
        for kind in KINDS:
            assert any(f'"type":"{kind}"' in line for line in ours), kind
        assert main(["dump-log", "--verify", "--files", str(newest)]) == 0
