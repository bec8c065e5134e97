"""Commands against groups, topics and arguments whose contents are nothing that they expect."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from pykbroker.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from pykbroker.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from pykbroker.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from pykbroker.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from pykbroker.testing import Broker
from tests.cli.conftest import Run
from tests.harness.raw_client import RawClient
from tests.harness.waiting import wait_for

_numbers = itertools.count(1)
# What Kafka Connect's workers are assigned begins with a version, and goes on as nothing of ours.
CONNECT = b"\x00\x01\x00\x00\x00\x08leader-1\x00\x18http://127.0.0.1:8083/\xff\xff"
GROUP_ACTIONS = (
    ("--describe",),
    ("--describe", "--verbose"),
    ("--describe", "--json"),
    ("--describe", "--members", "--verbose"),
    ("--describe", "--members", "--json"),
    ("--describe", "--state"),
    ("--reset-offsets", "--to-latest", "--all-topics", "--dry-run"),
    ("--reset-offsets", "--to-earliest", "--all-topics", "--execute"),
    ("--delete",),
)


class Groups:
    """Makes groups of one member with any protocol and any bytes; they leave at the end."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._joined: list[tuple[RawClient, str, str]] = []

    def make(
        self, protocol_type: str, assignment: bytes, metadata: bytes = b"", client: str = "raw"
    ) -> str:
        group = f"strange-{next(_numbers)}"
        connection = RawClient(self._servers, client_id=client)
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            group_instance_id="one",
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name="p", metadata=metadata)],
        )
        answers: list[Any] = []

        def answered() -> bool:
            # The first question for a coordinator is what creates the topic of groups.
            connection.ask("FindCoordinator", 4, FindCoordinatorRequest(coordinator_keys=[group]))
            answers.append(connection.ask("JoinGroup", 9, request))
            return answers[-1].error_code not in (14, 15, 16)

        wait_for(answered, "the coordinator")
        joined = answers[-1]
        assert joined.error_code == 0
        sync = SyncGroupRequest(
            group_id=group,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            group_instance_id="one",
            protocol_type=protocol_type,
            protocol_name="p",
            assignments=[
                SyncGroupRequestAssignment(member_id=joined.member_id, assignment=assignment)
            ],
        )
        assert connection.ask("SyncGroup", 5, sync).error_code == 0
        self._joined.append((connection, group, joined.member_id))
        return group

    def leave(self) -> None:
        for connection, group, member in self._joined:
            leaver = MemberIdentity(member_id=member, group_instance_id="one")
            connection.ask("LeaveGroup", 5, LeaveGroupRequest(group_id=group, members=[leaver]))
            connection.close()


@pytest.fixture
def groups(broker: Broker) -> Iterator[Groups]:
    made = Groups(broker.bootstrap_servers)
    yield made
    made.leave()


def test_a_group_of_another_protocol_is_named_in_one_line(ask: Run, groups: Groups) -> None:
    group = groups.make("connect", CONNECT)
    why = f"GroupId {group} is not a consumer group (connect)."
    for action in GROUP_ACTIONS[:-1]:
        outcome = ask("groups", "--group", group, *action)
        assert outcome.code == 1, action
        assert outcome.out == "", action
        lines = [line for line in outcome.err.splitlines() if line]
        expected = f"Error: Executing consumer group command failed due to {why}"
        assert [line for line in lines if not line.startswith("WARN")] == [expected], action


def test_the_other_groups_beside_it_are_described(
    ask: Run, groups: Groups, committed: str, filled: str
) -> None:
    group = groups.make("connect", CONNECT)
    both = ("--group", group, "--group", committed)
    outcome = ask("groups", "--describe", *both)
    assert outcome.code == 1
    assert f"Error: GroupId {group} is not a consumer group (connect)." in outcome.err
    assert [line.split()[:4] for line in outcome.lines[2:]] == [[committed, filled, "0", "3"]]
    states = ask("groups", "--describe", *both, "--state", "--json")
    assert [each["group"] for each in json.loads(states.out)] == [committed]
    reset = ("--reset-offsets", "--to-latest", "--all-topics", "--dry-run")
    planned = ask("groups", *reset, *both)
    assert planned.code == 1
    assert f"Error: GroupId {group} is not a consumer group (connect)." in planned.err
    assert [line.split() for line in planned.lines[2:]] == [[committed, filled, "0", "5"]]


def test_a_group_that_does_not_exist_hides_no_other(ask: Run, committed: str) -> None:
    outcome = ask("groups", "--describe", "--group", "absent", "--group", committed, "--state")
    assert outcome.code == 1
    assert "Error: Group absent not found." in outcome.err
    assert committed in outcome.out


@pytest.mark.parametrize(
    "assignment",
    [
        b"",
        b"\x00",
        b"\x00\x00",
        b"\xff\xff\xff",
        b"\x00\x01\x7f\xff\xff\xff",
        b"\x00\x00\x00\x00\x00\x01\x00\x01\xff\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff",
        b"\x00\x00\x00\x00\x00\x01\x00\x03../\x00\x00\x00\x02\xff\xff\xff\xff\x00\x00\x00\x09",
        CONNECT,
    ],
)
def test_any_assignment_of_a_consumer_is_described(
    ask: Run, groups: Groups, assignment: bytes
) -> None:
    group = groups.make("consumer", assignment, metadata=b"\x00", client="\u00fcn\u2028\n\x1b")
    for action in GROUP_ACTIONS[:6]:
        outcome = ask("groups", "--group", group, *action)
        assert outcome.code == 0, (action, outcome.err)
    assert ask("groups", "--list", "--state", "--type").code == 0
    (members,) = json.loads(
        ask("groups", "--group", group, "--describe", "--members", "--json").out
    )
    assert len(members["members"]) == 1


def test_an_assignment_that_cannot_be_read_is_said(ask: Run, groups: Groups) -> None:
    group = groups.make("consumer", b"\x00\x01\x7f\xff\xff\xff")
    outcome = ask("groups", "--group", group, "--describe", "--members")
    assert "Warning: the assignment of member " in outcome.err
    assert outcome.lines[2].split()[-1] == "0"


ARGUMENTS = [
    ("groups", "--describe", "--group", "\udcff"),
    ("groups", "--delete", "--group", "\udcff"),
    ("groups", "--describe", "--group", "x" * 40_000),
    ("groups", "--delete-offsets", "--group", "g", "--topic", "x:99999999999"),
    (
        "groups", "--reset-offsets", "--group", "g", "--topic", "x:\u00b2",
        "--to-latest", "--dry-run",
    ),
    ("topics", "--create", "--topic", "\udcff"),
    ("topics", "--create", "--topic", "c", "--partitions", "99999999999"),
    ("topics", "--create", "--topic", "c", "--replica-assignment", "99999999999"),
    ("get-offsets", "--topic", "x", "--partitions", "\u00b2"),
    ("log-dirs", "--describe", "--broker-list", "\u00b2"),
    ("log-dirs", "--describe", "--broker-list", "9" * 5000),
    (
        "configs", "--alter", "--entity-type", "groups", "--entity-name", "\udcff",
        "--add-config", "consumer.session.timeout.ms=50000",
    ),
]  # fmt: skip


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_arguments_that_no_request_can_carry_are_refused(
    ask: Run, arguments: tuple[str, ...]
) -> None:
    outcome = ask(*arguments)
    assert outcome.code == 1
    assert outcome.err.strip(), "the reason"


def test_output_is_written_in_any_encoding(broker: Broker, ask: Run, groups: Groups) -> None:
    group = groups.make("consumer", b"", client="\u00fcn")
    command = [
        sys.executable, "-m", "pykbroker", "groups", "--bootstrap-server",
        broker.bootstrap_servers, "--describe", "--members", "--group", group,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run(command, capture_output=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stderr
    assert rb"\xfcn" in result.stdout
