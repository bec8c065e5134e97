from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest

from pykbroker.cli import quorum
from pykbroker.cli.admin import AdminClient
from pykbroker.cli.command import CommandError
from pykbroker.protocol.messages.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from pykbroker.testing import Broker, Cluster
from tests.cli.conftest import Run


def test_status(ask_cluster: Run, cluster: Cluster) -> None:
    lines = ask_cluster("quorum", "describe", "--status").lines
    assert lines[0] == f"ClusterId:              {cluster.cluster_id}"
    assert re.fullmatch(r"LeaderId:               [123]", lines[1])
    voters = (
        f'{{"id": {number}, "endpoints": ["CONTROLLER://127.0.0.1:{port}"]}}'
        for number, port in cluster.controller_ports.items()
    )
    assert lines[6] == f"CurrentVoters:          [{', '.join(voters)}]"
    assert lines[7] == "CurrentObservers:       []"


def test_replication(ask_cluster: Run) -> None:
    titles, leader, *others = ask_cluster("quorum", "describe", "--replication").lines
    assert titles.split() == list(quorum._COLUMNS)
    assert re.fullmatch(r"[123]     \tA{22}\t\d+ +\t0  \t\d{13} +\t\d{13} +\tLeader  \t", leader), (
        leader
    )
    assert sorted(line.split()[-1] for line in others) == ["Follower", "Follower"]
    aged = ask_cluster("quorum", "describe", "--replication", "--human-readable").lines
    assert re.search(r"\t\d+ ms ago +\t\d+ ms ago +\tLeader", aged[1])


def test_through_controllers(run: Run, cluster: Cluster) -> None:
    """The flags may stand on either side of the subcommand."""
    through = ("--bootstrap-controller", cluster.bootstrap_controllers)
    before = run("quorum", *through, "describe", "--status", "--json")
    behind = run("quorum", "describe", *through, "--status", "--json")
    first, second = json.loads(before.out), json.loads(behind.out)
    assert first["clusterId"] == second["clusterId"] == cluster.cluster_id
    assert {each["status"] for each in first["replicas"]} == {"Leader", "Follower"}


def test_a_lone_node_has_a_directory_id(ask: Run, broker: Broker) -> None:
    status = ask("quorum", "describe", "--status").out
    (directory,) = re.findall(r'CurrentVoters: +\[{"id": 1, "directoryId": "([\w-]{22})"', status)
    assert directory in (broker.data_dir / "meta.properties").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "pykbroker quorum: the following arguments are required: {describe}"),
        (("describe",), "One of --status or --replication must be specified"),
        (("describe", "--status", "--replication"), "Only one of --status or --replication"),
        (("describe", "--status", "--human-readable"), "The option --human-readable is only"),
        (("describe", "--status", "--nope"), "pykbroker: unrecognized arguments: --nope"),
        (("describe", "--status", "--bootstrap-controller", "x"), "Give either --bootstrap-serv"),
        (("describe", "--status", "--bootstrap-server", "127.0.0.1:1"), "Cannot connect to 127."),
    ],
)
def test_refusals(ask: Run, arguments: Sequence[str], message: str) -> None:
    outcome = ask("quorum", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.replace("pykbroker quorum: u", "pykbroker: u").startswith(message)
    assert "Traceback" not in outcome.err


def test_a_broker_where_a_controller_should_be(run: Run, broker: Broker) -> None:
    wrong = ("--bootstrap-controller", broker.bootstrap_servers)
    outcome = run("quorum", *wrong, "describe", "--status")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("The request was sent to an endpoint of type BROKER")


def described(
    monkeypatch: pytest.MonkeyPatch, broker: Broker, voters: list[ReplicaState], leader: int = 1
) -> quorum.Quorum:
    """A quorum that answers so, with one observer that has never been caught up."""
    partition = PartitionData(
        leader_id=leader,
        leader_epoch=3,
        high_watermark=8,
        current_voters=voters,
        observers=[ReplicaState(replica_id=4, log_end_offset=1)],
    )
    response = DescribeQuorumResponse(
        topics=[TopicData(partitions=[partition])],
        nodes=[Node(node_id=1, listeners=[Listener(name="C", host="::1", port=9)])],
    )
    monkeypatch.setattr(quorum, "_ask", lambda connection: response)
    with AdminClient(broker.bootstrap_servers) as client:
        return quorum.Quorum(client)


def test_lags(monkeypatch: pytest.MonkeyPatch, broker: Broker) -> None:
    def voter(number: int, end: int, caught_up_ms: int) -> ReplicaState:
        return ReplicaState(
            replica_id=number,
            log_end_offset=end,
            last_caught_up_timestamp=caught_up_ms,
            last_fetch_timestamp=caught_up_ms,
        )

    quiet = described(monkeypatch, broker, [voter(1, 10, 500), voter(2, 8, 300), voter(3, 9, 400)])
    assert quiet.status()[4:6] == ["MaxFollowerLag:         2", "MaxFollowerLagTimeMs:   200"]
    assert '"endpoints": ["C://[::1]:9"]' in quiet.status()[6]
    assert quiet.replication(None)[-1] == ("4", "A" * 22, "1", "9", "-1", "-1", "Observer")
    assert quiet.replication(700)[1][4:6] == ("400 ms ago", "400 ms ago")
    with pytest.raises(CommandError, match="possible drift in system clock"):
        quiet.replication(450)
    never = described(monkeypatch, broker, [voter(1, 10, 500), voter(2, 8, -1)])
    assert never.status()[5] == "MaxFollowerLagTimeMs:   -1"
    with pytest.raises(CommandError, match="leader of the quorum, 7, is none of its voters"):
        described(monkeypatch, broker, [voter(1, 10, 500)], leader=7)
