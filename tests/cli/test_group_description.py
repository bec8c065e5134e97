from __future__ import annotations

import json

from tests.cli.conftest import Member, Run


def test_offsets_of_a_group_without_members(ask: Run, committed: str, filled: str) -> None:
    outcome = ask("groups", "--describe", "--group", committed)
    assert outcome.code == 0
    assert outcome.err == f"\nConsumer group '{committed}' has no active members.\n"
    rows = [line.split() for line in outcome.lines]
    assert rows[0] == []
    assert rows[1][:6] == [
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
    ]
    assert rows[2:] == [[committed, filled, "0", "3", "5", "2", "-", "-", "-"]]
    verbose = ask("groups", "--describe", "--group", committed, "--verbose").lines
    assert verbose[1].split()[3] == "LEADER-EPOCH"


def test_offsets_of_members(ask: Run, member: Member) -> None:
    rows = [line.split() for line in ask("groups", "--describe", "--group", member.group).lines]
    assert rows[2] == [
        member.group,
        member.topic,
        "0",
        "-",
        "5",
        "-",
        member.id,
        "/127.0.0.1",
        "cli-client",
    ]
    (described,) = json.loads(ask("groups", "--describe", "--group", member.group, "--json").out)
    assert described["state"] == "Stable"
    assert described["partitions"][1] == {
        "topic": member.topic,
        "partition": 1,
        "leaderEpoch": None,
        "currentOffset": None,
        "logEndOffset": 5,
        "lag": None,
        "consumerId": member.id,
        "host": "/127.0.0.1",
        "clientId": "cli-client",
    }


def test_members(ask: Run, member: Member) -> None:
    lines = ask("groups", "--describe", "--group", member.group, "--members").lines
    assert [line.split() for line in lines[1:]] == [
        ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"],
        [member.group, member.id, "/127.0.0.1", "cli-client", "2"],
    ]
    verbose = ask("groups", "--describe", "--group", member.group, "--members", "--verbose").lines
    assert verbose[2].split()[-4:] == ["-", f"{member.topic}:0,1", "-", "-"]
    described = json.loads(
        ask("groups", "--describe", "--group", member.group, "--members", "--json").out
    )
    assert described[0]["members"][0]["assignment"] == [
        {"topic": member.topic, "partition": 0},
        {"topic": member.topic, "partition": 1},
    ]


def test_state(ask: Run, member: Member, committed: str) -> None:
    lines = ask("groups", "--describe", "--group", member.group, "--state").lines
    assert lines[2].split()[0] == member.group
    assert lines[2].split()[-3:] == ["range", "Stable", "1"]
    verbose = ask("groups", "--describe", "--group", committed, "--state", "--verbose").lines
    assert verbose[2].split()[-5:] == ["-", "Empty", "-", "-", "0"]
    (described,) = json.loads(
        ask("groups", "--describe", "--group", committed, "--state", "--json").out
    )
    assert (described["state"], described["members"], described["coordinator"]) == ("Empty", 0, 1)


def test_all_groups(ask: Run, committed: str, member: Member) -> None:
    out = ask("groups", "--describe", "--all-groups").out
    assert committed in out
    assert member.group in out


def test_groups_with_members_are_left_alone(ask: Run, member: Member) -> None:
    deleted = ask("groups", "--delete", "--group", member.group)
    assert deleted.code == 1
    assert "GroupNotEmptyException: The group is not empty." in deleted.out
    reset = ask(
        "groups", "--reset-offsets", "--group", member.group, "--to-latest", "--all-topics",
        "--execute",
    )  # fmt: skip
    assert reset.code == 1
    assert f"group '{member.group}' is inactive, but the current state is Stable." in reset.out
    offsets = ask("groups", "--delete-offsets", "--group", member.group, "--topic", member.topic)
    assert offsets.code == 1
    assert "Encountered some partition-level error" in offsets.out
