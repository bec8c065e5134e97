"""Quorums whose voters are given when directories are formatted (kraft.version 1, KIP-853)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from pykbroker.cli.main import main
from tests.harness import apache
from tests.harness.mixed_cluster import APACHE, OURS, MixedCluster
from tests.harness.replicated import in_sync
from tests.harness.waiting import wait_for
from tests.harness.ways import ways

CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"
VOTERS = "4@127.0.0.1:9093:JEXY6aqzQY-32P5TStzaFg,5@[::1]:9193:MvDxzVmcRsaTz33bUuRU6A"
OFF = [part for each in apache.UNBUILT_FEATURES for part in ("--feature", each)]


def node_file(path: Path, node_id: int, roles: str, directory: Path) -> Path:
    places = {"broker": "PLAINTEXT://127.0.0.1:9092", "controller": "CONTROLLER://127.0.0.1:9093"}
    listeners = ",".join(places[role] for role in roles.split(","))
    path.write_text(
        f"process.roles={roles}\nnode.id={node_id}\nlisteners={listeners}\n"
        "controller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        f"controller.quorum.bootstrap.servers=127.0.0.1:9093,127.0.0.1:9193\nlog.dirs={directory}\n"
    )
    return path


def checkpoint(directory: Path) -> list[str]:
    """What both programs that print log files print of the checkpoint, without times and sums."""
    (file,) = (directory / "__cluster_metadata-0").glob("*.checkpoint")
    flags = ("--cluster-metadata-decoder", "--files", str(file))
    lines = apache.run_tool(apache.DUMP_LOG, *flags).splitlines()[1:]
    return [re.sub(r"(Time|Timestamp|crc)\"?: ?\d+", r"\1", line) for line in lines]


@pytest.mark.parametrize(
    ("node_id", "roles", "flags"),
    [
        (4, "broker,controller", ("--initial-controllers", VOTERS)),
        (6, "controller", ("--initial-controllers", VOTERS)),
        (4, "controller", ("--no-initial-controllers",)),
        (4, "broker", ("--no-initial-controllers",)),
        (4, "broker", ()),
    ],
)
def test_formatted_directories_are_the_same(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    node_id: int,
    roles: str,
    flags: tuple[str, ...],
) -> None:
    printed, told, files, contents = [], [], [], []
    for kind in ("ours", "his"):
        directory = tmp_path / kind
        file = node_file(tmp_path / f"{kind}.properties", node_id, roles, directory)
        asked = ("format", "-t", CLUSTER_ID, "-c", str(file), *flags, *OFF)
        capsys.readouterr()
        if kind == "ours":
            assert main(["storage", *asked]) == 0
            printed.append(capsys.readouterr().out)
        else:
            printed.append(apache.run_tool(apache.STORAGE, *asked).replace("his", "ours"))
        capsys.readouterr()
        assert main(["storage", "info", "-c", str(file)]) == 0
        told.append(capsys.readouterr().out.replace("his", "ours"))
        files.append(sorted(str(path.relative_to(directory)) for path in directory.rglob("*")))
        contents.append(checkpoint(directory) if "controller" in roles else [])
    assert printed[0] == printed[1]
    if flags and node_id == 4 and VOTERS in flags:
        assert told[0] == told[1]
    assert files[0] == files[1]
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("roles", "flags"),
    [
        ("controller", ()),
        ("broker", ("--standalone",)),
        ("controller", ("--standalone", "--feature", "kraft.version=0")),
    ],
)
def test_refusals_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], roles: str, flags: tuple[str, ...]
) -> None:
    file = node_file(tmp_path / "f", 4, roles, tmp_path / "d")
    asked = ("format", "-t", CLUSTER_ID, "-c", str(file), *flags)
    assert main(["storage", *asked]) == 1
    ours = capsys.readouterr().err.strip()
    assert ours in apache.run_tool(apache.STORAGE, *asked, check=False)


@pytest.mark.parametrize(
    "kinds", ways([(OURS, OURS, OURS), (OURS, APACHE, APACHE)], [(APACHE, OURS, OURS)])
)
def test_a_quorum_of_given_voters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kinds: tuple[str, ...]
) -> None:
    """It elects, loses the node that leads it, and has that back."""
    with MixedCluster(tmp_path, *kinds, is_dynamic=True) as cluster:
        servers = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("t", 3, 3)], request_timeout=30)["t"].result()
        in_sync(servers, "t", 3)

        def quorum(through: str) -> dict[str, object]:
            capsys.readouterr()
            assert main(["quorum", "--bootstrap-server", through, "describe", "--status",
                         "--json"]) == 0  # fmt: skip
            found: dict[str, object] = json.loads(capsys.readouterr().out)
            return found

        before = quorum(servers)
        replicas = before["replicas"]
        assert isinstance(replicas, list)
        voters = {each["id"]: each["directoryId"] for each in replicas}
        assert voters == dict(enumerate(cluster.directory_ids, 1))
        leader = cluster.nodes[int(str(before["leaderId"])) - 1]
        others = ",".join(node.bootstrap_server for node in cluster.nodes if node is not leader)
        leader.kill()
        in_sync(others, "t", 2)
        assert quorum(others)["leaderId"] != leader.id
        leader.start()
        cluster.wait_for_brokers()
        in_sync(servers, "t", 3)

        def is_follower() -> bool:
            found = quorum(others)["replicas"]
            assert isinstance(found, list)
            ends = {each["id"]: each["logEndOffset"] for each in found}
            return bool(ends[leader.id] >= min(ends.values()) > 0)

        wait_for(is_follower, "the node to follow")
