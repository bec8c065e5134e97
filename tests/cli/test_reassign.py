from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pykbroker.cli import reassign
from pykbroker.cli.admin import Node
from pykbroker.cli.command import CommandError
from pykbroker.testing import Cluster
from tests.cli.conftest import Outcome, Run
from tests.harness.replicated import in_sync, partitions
from tests.harness.waiting import wait_for


def plan(directory: Path, *partitions: tuple[str, int, list[int]]) -> tuple[str, str]:
    """The flag that names a file with this plan."""
    file = directory / "plan.json"
    entries = [{"topic": t, "partition": p, "replicas": r} for t, p, r in partitions]
    file.write_text(json.dumps({"version": 1, "partitions": entries}))
    return "--reassignment-json-file", str(file)


def create(ask_cluster: Run, cluster: Cluster, name: str, assignment: str) -> None:
    placed = ("--replica-assignment", assignment)
    assert ask_cluster("topics", "--create", "--topic", name, *placed).code == 0
    in_sync(cluster.bootstrap_servers, name, assignment.partition(",")[0].count(":") + 1)


def test_a_partition_moves(ask_cluster: Run, cluster: Cluster, tmp_path: Path) -> None:
    create(ask_cluster, cluster, "moved", "1:2")
    wanted = plan(tmp_path, ("moved", 0, [3, 1]))
    begun = ask_cluster("reassign", "--execute", *wanted)
    before = {
        "topic": "moved",
        "partition": 0,
        "replicas": [1, 2],
        "log_dirs": [str(cluster.node(number).data_dir) for number in (1, 2)],
    }
    assert begun.lines == [
        "Current partition replica assignment",
        "",
        json.dumps({"version": 1, "partitions": [before]}, separators=(",", ":")),
        "",
        "Save this to use as the --reassignment-json-file option during rollback",
        "Successfully started partition reassignment for moved-0",
    ]

    def done() -> Outcome:
        return ask_cluster("reassign", "--verify", *wanted)

    wait_for(lambda: "is completed." in done().out, "the reassignment")
    assert done().lines == [
        "Status of partition reassignment:",
        "Reassignment of partition moved-0 is completed.",
        "",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic moved",
    ]
    servers = cluster.bootstrap_servers
    wait_for(lambda: partitions(servers, "moved")[0].replicas == [3, 1], "any node to see it")
    assert ask_cluster("reassign", "--verify", *wanted, "--preserve-throttles").lines[3:] == []


def test_what_is_under_way(ask_cluster: Run, cluster: Cluster, tmp_path: Path, run: Run) -> None:
    """A replica on a node that is stopped in its tracks does not come in sync."""
    leader = json.loads(ask_cluster("quorum", "describe", "--status", "--json").out)["leaderId"]
    slow, first, second = sorted((1, 2, 3), key=lambda number: number == leader)
    through = ("--bootstrap-server", cluster.node(first).bootstrap_servers)
    create(ask_cluster, cluster, "slow", f"{first}:{second}")
    wanted = plan(tmp_path, ("slow", 0, [first, slow]))
    cluster.node(slow).pause()
    try:
        assert run("reassign", *through, "--execute", *wanted).code == 0
        listed = run("reassign", *through, "--list").lines
        replicas = f"{first},{slow},{second}"
        assert listed == [
            "Current partition reassignments:",
            f"slow-0: replicas: {replicas}. adding: {slow}. removing: {second}.",
        ]
        as_json = json.loads(run("reassign", *through, "--list", "--json").out)
        assert [each["adding"] for each in as_json] == [[slow]]
        verified = run("reassign", *through, "--verify", *wanted).lines
        assert verified[1:] == ["Reassignment of partition slow-0 is still in progress.", ""]
        described = run("topics", *through, "--describe", "--topic", "slow").lines[1]
        assert f"\tReplicas: {replicas}\t" in described
        assert f"\tAdding Replicas: {slow}\tRemoving Replicas: {second}\t" in described
        again = run("reassign", *through, "--execute", *wanted)
        assert (again.code, again.out) == (1, "")
        assert again.err.startswith("Cannot execute because there is an existing partition assi")
        port = cluster.controller_ports[first]
        controllers = ("--bootstrap-controller", f"127.0.0.1:{port}")
        assert run("reassign", *controllers, "--list").lines == listed
        cancelled = run("reassign", *through, "--cancel", *wanted, "--preserve-throttles")
        assert cancelled.lines == [
            "Successfully cancelled partition reassignment for: slow-0",
            "None of the specified partition moves are active.",
        ]
    finally:
        cluster.node(slow).resume()
    assert run("reassign", *through, "--list").out == "No partition reassignments found.\n"
    settled = run("reassign", *through, "--cancel", *wanted)
    assert settled.lines[0] == "None of the specified partition reassignments are active."
    wait_for(lambda: run("reassign", *through, "--verify", *wanted).code == 0, "node to be back")


def test_a_proposal(ask_cluster: Run, cluster: Cluster, tmp_path: Path) -> None:
    create(ask_cluster, cluster, "proposed", "1:2,2:3")
    file = tmp_path / "topics.json"
    file.write_text('{"topics": [{"topic": "proposed"}], "version": 1}')
    asked = ("--generate", "--topics-to-move-json-file", str(file))
    outcome = ask_cluster("reassign", *asked, "--broker-list", "3,1")
    title, current, blank, proposal, proposed = outcome.lines
    assert (title, blank) == ("Current partition replica assignment", "")
    assert proposal == "Proposed partition reassignment configuration"
    assert [each["replicas"] for each in json.loads(current)["partitions"]] == [[1, 2], [2, 3]]
    for number, each in enumerate(json.loads(proposed)["partitions"]):
        assert each["partition"] == number
        assert sorted(each["replicas"]) == [1, 3]
        assert each["log_dirs"] == ["any", "any"]
    few = ask_cluster("reassign", *asked, "--broker-list", "1")
    assert few.code == 1
    assert few.err.startswith("The target replication factor of 2 cannot be reached because only")
    for brokers, message in (
        ("1,x", 'For input string: "x"'),
        ("1,2,1", "Broker list contains duplicate entries: [1]"),
    ):
        assert ask_cluster("reassign", *asked, "--broker-list", brokers).err == f"{message}\n"
    file.write_text('{"topics": [{"topic": "nowhere"}]}')
    unknown = ask_cluster("reassign", *asked, "--broker-list", "1,2")
    assert (unknown.code, unknown.err) == (1, "Topic nowhere not found.\n")


def test_racks() -> None:
    class Client:
        def nodes(self) -> dict[int, Node]:
            racks = {1: "a", 2: "a", 3: "b", 4: None}
            return {id_: Node(id_, "h", 1, rack) for id_, rack in racks.items()}

    client: Any = Client()
    current = {("t", number): [1, 2] for number in range(4)}
    spread = reassign._propose(client, current, [1, 2, 3], is_rack_aware=True)
    assert list(spread) == list(current)
    assert all(3 in replicas for replicas in spread.values())
    with pytest.raises(CommandError, match="Not all brokers have rack information"):
        reassign._propose(client, current, [1, 4], is_rack_aware=True)
    assert len(reassign._propose(client, current, [1, 4], is_rack_aware=False)) == 4


@pytest.mark.parametrize(
    ("partition", "flags", "message"),
    [
        (("none", 0, [1]), (), "Topic none not found."),
        (("refused", 7, [1]), (), "Unable to find partition: refused-7"),
        (("refused", 0, [9]), (), "Unknown broker id 9"),
        (("refused", 0, [1, 1]), (), "Partition replica lists may not contain duplicate entries"),
        (
            ("refused", 0, [2, 3]),
            ("--disallow-replication-factor-change",),
            "Error reassigning partition(s):\nrefused-0: The replication factor is changed from 1",
        ),
        (
            ("refused", 0, [2]),
            ("--throttle", "1000"),
            "leader.replication.throttled.replicas: replication is not throttled yet",
        ),
        (
            ("refused", 0, [2]),
            ("--replica-alter-log-dirs-throttle", "1000", "--bootstrap-server", "127.0.0.1:1"),
            "Cannot connect to 127.0.0.1:1: Connection refused",
        ),
    ],
)
def test_refusals(
    ask_cluster: Run,
    cluster: Cluster,
    tmp_path: Path,
    partition: tuple[str, int, list[int]],
    flags: Sequence[str],
    message: str,
) -> None:
    exists = ("--if-not-exists", "--replica-assignment", "1")
    assert ask_cluster("topics", "--create", "--topic", "refused", *exists).code == 0
    outcome = ask_cluster("reassign", "--execute", *plan(tmp_path, partition), *flags)
    assert outcome.code == 1
    assert outcome.err.startswith(message)
    assert partitions(cluster.bootstrap_servers, "refused")[0].replicas == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Command must include exactly one action: --generate, --execute, --verify, --canc"),
        (("--list", "--verify"), "Command must include exactly one action"),
        (("--execute",), 'Missing required argument "[reassignment-json-file]"'),
        (("--generate", "--broker-list", "1"), 'Missing required argument "[topics-to-move-j'),
        (("--list", "--throttle", "0"), 'Option "[throttle]" can\'t be used with action "[list]"'),
        (
            ("--verify", "--reassignment-json-file", "x", "--bootstrap-controller", "y"),
            'Option "[bootstrap-controller]" can\'t be used with action "[verify]"',
        ),
        (("--list", "--timeout", "x"), "argument --timeout: 'x' is not a whole"),
        (("--list", "--nope"), "unrecognized arguments: --nope"),
    ],
)
def test_usage(run: Run, arguments: Sequence[str], message: str) -> None:
    outcome = run("reassign", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"pykbroker reassign: {message}")
