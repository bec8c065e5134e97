from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pykbroker.cli import cluster
from pykbroker.config.cluster_layout import ClusterLayout
from pykbroker.config.load import Properties, load_config
from pykbroker.protocol.messages.describe_cluster_response import DescribeClusterBroker
from pykbroker.testing import Cluster
from tests.cli.conftest import Run
from tests.harness.waiting import wait_for

READY_SECONDS = 120
LISTENERS = "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:%d"


@contextmanager
def running(directory: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`pykbroker cluster` in this directory, on free ports; killed when it is left."""
    command = [sys.executable, "-m", "pykbroker", "cluster", "--data-dir", str(directory)]
    with subprocess.Popen(
        [*command, "--base-port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            for pid in pids(directory):
                os.kill(pid, signal.SIGKILL)


def pids(directory: Path, node: str = "*") -> list[int]:
    """The processes of nodes of this directory: who holds the lock of theirs."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        wanted = [Path(word.decode()) for word in words if word.endswith(b".properties")]
        if any(each.parent == directory and each.match(f"node-{node}.*") for each in wanted):
            found.append(int(entry.parent.name))
    return found


def ready_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], READY_SECONDS)[0], "no ready line"
    return process.stdout.readline()


def failures(process: subprocess.Popen[str]) -> Iterator[str]:
    """Standard error as it comes, without the lines of a slow start."""
    assert process.stderr is not None
    return (line for line in process.stderr if "still waiting for node" not in line)


def test_life_of_a_cluster(tmp_path: Path, run: Run) -> None:
    with running(tmp_path, "--nodes", "3", "--override", "num.partitions=4") as process:
        line = ready_line(process)
        found = re.fullmatch(
            r"ready nodes=3 controllers=3 bootstrap\.servers=(\S+) data\.dir=(\S+)\n", line
        )
        assert found is not None, line
        at = ("--bootstrap-server", found[1])
        assert found[2] == str(tmp_path)
        assert run("topics", *at, "--create", "--topic", "kept").code == 0
        describe = ("topics", *at, "--describe", "--topic", "kept")
        shown: list[list[str]] = []

        def is_shown() -> bool:
            """Another node than the one that was asked to create it may not know of it yet."""
            shown.append(run(*describe).lines)
            return bool(shown[-1])

        wait_for(is_shown, "the topic on the node that is asked")
        described = shown[-1][0]
        assert "\tPartitionCount: 4\tReplicationFactor: 3\t" in described
        assert "min.insync.replicas=2" in described
        first_id = run("cluster", "cluster-id", *at).out
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        assert list(failures(process)) == []
        assert pids(tmp_path) == []
    with running(tmp_path, "--nodes", "4") as process:
        at = ("--bootstrap-server", ready_line(process).split("servers=")[1].split()[0])
        assert run("cluster", "cluster-id", *at).out == first_id
        assert "kept" in run("topics", *at, "--list").lines
        (victim,) = pids(tmp_path, "4")
        os.kill(victim, signal.SIGKILL)
        assert next(failures(process)) == (
            "pykbroker cluster: node 4 was killed by SIGKILL. The others run on; to start it "
            f"again: {sys.executable} -m pykbroker start --config {tmp_path}/node-4.properties\n"
        )
        gone = run("cluster", "unregister", *at, "--id", "4")
        assert (gone.code, gone.out) == (0, "Broker 4 is no longer registered.\n")
        process.terminate()
        assert process.wait(120) == 1


def test_a_node_that_refuses_its_configuration(tmp_path: Path) -> None:
    with running(tmp_path, "--nodes", "2", "--override", "listeners=PLAINTEXT://:0") as process:
        assert process.wait(120) == 1
        assert re.match(
            r"pykbroker cluster: node \d did not start: it ended with exit code 1: pykbroker start",
            next(failures(process)),
        )
    assert pids(tmp_path) == []


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with running(tmp_path, "--nodes", "1", "--override", f"listeners={LISTENERS % port}") as it:
            assert it.wait(120) == 1
            assert "".join(failures(it)) == (
                "pykbroker cluster: node 1 did not start: it ended with exit code 1: pykbroker "
                f"start: Socket server failed to bind to 127.0.0.1:{port}: Address already in "
                "use. Choose other ports with --base-port\n"
            )


def test_ports_are_checked_before_any_node_starts(tmp_path: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        at = ("--data-dir", str(tmp_path), "--base-port", str(port))
        refused = run("cluster", "--nodes", "3", *at)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == (
        f"pykbroker cluster: port {port} of 127.0.0.1: Address already in use. Choose other ports "
        "with --base-port\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_cluster_id_and_unregister(run: Run, cluster: Cluster) -> None:
    for through in (
        ("--bootstrap-server", cluster.bootstrap_servers),
        ("--bootstrap-controller", cluster.bootstrap_controllers),
    ):
        shown = run("cluster", "cluster-id", *through)
        assert (shown.code, shown.out) == (0, f"Cluster ID: {cluster.cluster_id}\n")
        for command, message in (
            ("unregister", "Broker ID 77 is not currently registered"),
            ("unregister-controller", "Controller ID 77 is not currently registered."),
        ):
            unknown = run("cluster", command, *through, "--id", "77")
            assert (unknown.code, unknown.out, unknown.err) == (1, "", f"{message}\n")
        voter = run("cluster", "unregister-controller", *through, "--id", "1")
        assert (voter.code, voter.err) == (
            1,
            "Cannot unregister controller 1 because it is part of the voter set.\n",
        )


def test_endpoints(run: Run, cluster: Cluster) -> None:
    through = ("--bootstrap-server", cluster.bootstrap_servers)
    titles, *lines = run("cluster", "list-endpoints", *through, "--include-fenced-brokers").lines
    assert titles == "ID         HOST      PORT       RACK       STATE      ENDPOINT_TYPE  "
    assert [line.split() for line in lines] == [
        [str(number), "127.0.0.1", str(port), "null", "unfenced", "broker"]
        for number, port in cluster.ports.items()
    ]
    through = ("--bootstrap-controller", cluster.bootstrap_controllers)
    titles, *lines = run("cluster", "list-endpoints", *through).lines
    assert titles == "ID         HOST      PORT       RACK       ENDPOINT_TYPE  "
    port = cluster.controller_ports[3]
    assert lines[2] == f"3          127.0.0.1 {port:<10} null       controller     "
    refused = run("cluster", "list-endpoints", *through, "--include-fenced-brokers")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("The option --include-fenced-brokers is only supported with --b")


def test_the_width_of_endpoints() -> None:
    nodes = [
        DescribeClusterBroker(broker_id=1, host="a", port=1, rack="east"),
        DescribeClusterBroker(
            broker_id=2, host="long-host", port=2, rack="far-east", is_fenced=True
        ),
    ]
    assert cluster.endpoint_table(nodes, of_controllers=False) == [
        "ID         HOST      PORT       RACK     STATE      ENDPOINT_TYPE  ",
        "1          a         1          east     unfenced   broker         ",
        "2          long-host 2          far-east fenced     broker         ",
    ]
    assert len(cluster.endpoint_table([], of_controllers=True)) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "pykbroker cluster: give --nodes N to run a cluster, or one of clus"),
        (("--nodes", "x"), "pykbroker cluster: argument --nodes: 'x' is not a whole numb"),
        (("--nodes", "0"), "pykbroker cluster: --nodes 0: expected 1 to 100"),
        (("--nodes", "101"), "pykbroker cluster: --nodes 101: expected 1 to 100"),
        (("--nodes", "2", "--controllers", "3"), "pykbroker cluster: --controllers 3: expected 1"),
        (("--nodes", "2", "--controllers", "0"), "pykbroker cluster: --controllers 0: expected 1"),
        (("--nodes", "3", "--base-port", "65533"), "pykbroker cluster: --base-port 65533: 6 ports"),
        (("--nodes", "3", "--base-port", "-1"), "pykbroker cluster: --base-port -1: 6 ports from"),
        (("--nodes", "1", "--data-dir", "a,b"), "pykbroker cluster: "),
        (("--nodes", "1", "--data-dir", "/proc/no"), "pykbroker cluster: /proc/no: No such file"),
        (("--nodes", "1", "--override", "x"), "pykbroker cluster: --override x: expected KEY=VAL"),
        (("--nodes", "1", "cluster-id"), "pykbroker cluster: --nodes can't be used with cluster"),
        (("unregister",), "pykbroker cluster unregister: the following arguments are required"),
        (("grow",), "pykbroker cluster: argument {cluster-id,unregister,unregister-controller,l"),
        (
            ("list-endpoints", "--include-fenced-brokers", "--bootstrap-server", "127.0.0.1:1"),
            "Cannot connect to 127.0.0.1:1: Connection refused",
        ),
        (("cluster-id", "--bootstrap-server", "127.0.0.1:1"), "Cannot connect to 127.0.0.1:1"),
    ],
)
def test_refusals(
    run: Run,
    arguments: Sequence[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("cluster", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_something_else(run: Run, tmp_path: Path) -> None:
    at = ("--data-dir", str(tmp_path), "--base-port", "0")
    (tmp_path / "meta.properties").write_text("version=1\n")
    single = run("cluster", "--nodes", "1", *at)
    assert single.err == (
        f"pykbroker cluster: {tmp_path} is the log directory of a node, not that of a cluster\n"
    )
    (tmp_path / "meta.properties").unlink()
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1" / "meta.properties").write_text("nonsense\n")
    damaged = run("cluster", "--nodes", "1", *at)
    assert (damaged.code, damaged.out) == (1, "")
    assert damaged.err.startswith(f"pykbroker cluster: {tmp_path}/node-1/meta.properties")


def test_the_voters_stay(run: Run, tmp_path: Path) -> None:
    layout = ClusterLayout({1: 1, 2: 2, 3: 3}, {1: 4, 2: 5, 3: 6})
    cluster.write_configurations(layout, str(tmp_path), Properties())
    at = ("--data-dir", str(tmp_path), "--base-port", "0")
    for arguments, message in (
        (("--nodes", "5", "--controllers", "5"), "--controllers 5: this cluster has 3, which st"),
        (("--nodes", "2"), "--nodes 2: this cluster has 3 controllers already"),
    ):
        refused = run("cluster", *arguments, *at)
        assert (refused.code, refused.out) == (1, "")
        assert refused.err.startswith(f"pykbroker cluster: {message}")


def test_configurations(tmp_path: Path) -> None:
    layout = ClusterLayout({1: 11, 2: 12}, {1: 21})
    shared = load_config(overrides=["min.insync.replicas=2", "num.partitions=7"])
    cluster.write_configurations(layout, str(tmp_path), shared)
    first, second = (load_config(tmp_path / f"node-{number}.properties") for number in (1, 2))
    assert first["log.dirs"] == f"{tmp_path}/node-1"
    assert second["process.roles"] == "broker"
    for each in (first, second):
        assert each["default.replication.factor"] == "2"
        assert (each["min.insync.replicas"], each["num.partitions"]) == ("2", "7")
    assert cluster.former_voters(str(tmp_path)) == 1
    assert cluster.former_voters(str(tmp_path / "none")) == 0


def test_default_voters() -> None:
    chosen = [cluster._voters(None, count, 0) for count in (1, 2, 3, 9)]
    assert chosen == [1, 1, 3, 3]
    assert cluster._voters(None, 9, 5) == 5


def test_the_environment_of_the_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would make nodes the same stays outside; an empty directory gets its cluster's id."""
    layout = ClusterLayout({1: 11, 2: 12}, {1: 21})
    monkeypatch.setenv("KAFKA_NODE_ID", "7")
    monkeypatch.setenv("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://x:1")
    monkeypatch.setenv("KAFKA_NUM_PARTITIONS", "7")
    monkeypatch.delenv("CLUSTER_ID", raising=False)
    first, second = (cluster.node_environment(layout, str(tmp_path)) for _ in range(2))
    assert "KAFKA_NODE_ID" not in first
    assert "KAFKA_ADVERTISED_LISTENERS" not in first
    assert first["KAFKA_NUM_PARTITIONS"] == "7"
    assert first["CLUSTER_ID"] != second["CLUSTER_ID"]
    monkeypatch.setenv("CLUSTER_ID", "5L6g3nShT-eMCtK--X86sw")
    given = cluster.node_environment(layout, str(tmp_path))
    assert given["CLUSTER_ID"] == "5L6g3nShT-eMCtK--X86sw"
    (tmp_path / "node-2").mkdir()
    identity = "version=1\nnode.id=2\ncluster.id=mZLBCX6nSbSMqy4jLJVNHA\n"
    (tmp_path / "node-2" / "meta.properties").write_text(identity)
    found = cluster.node_environment(layout, str(tmp_path))
    assert found["CLUSTER_ID"] == "mZLBCX6nSbSMqy4jLJVNHA"
