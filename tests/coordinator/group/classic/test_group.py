"""ClassicGroup: membership, votes, the leader, and replay of its record."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.member import ClassicMember
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.errors import ErrorCode
from tests.coordinator.group_world import subscription


def member(
    member_id: str, *names: str, instance: str | None = None, kind: str = "consumer"
) -> ClassicMember:
    return ClassicMember(
        member_id=member_id,
        group_instance_id=instance,
        client_id="c",
        client_host="/127.0.0.1",
        rebalance_timeout_ms=60_000,
        session_timeout_ms=10_000,
        protocol_type=kind,
        protocols=tuple((name, subscription("t")) for name in names or ("range",)),
    )


def test_the_protocol_is_supported_by_all_and_preferred_by_most() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", "x", "y", "z"))
    group.add(member("b", "z", "y"))
    group.add(member("c", "z", "y", "x"))
    assert group.select_protocol() == "z"
    assert group.supports("consumer", ["y"]) is True
    group.state = GroupState.STABLE
    assert group.supports("consumer", ["x"]) is False
    assert group.supports("connect", ["y"]) is False
    group.remove("b")
    assert group.supports("consumer", ["x"]) is True
    assert group.supported == {"x": 2, "y": 2, "z": 2}


def test_a_protocol_that_a_member_names_twice_counts_once() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", "range", "range"))
    assert group.select_protocol() == "range"
    group.add(member("b", "sticky", "range"))
    assert group.select_protocol() == "range"
    group.remove("a")
    assert group.supported == {"range": 1, "sticky": 1}


@pytest.mark.parametrize(
    "one, two, chosen",
    [
        ("roundrobin", "range", "range"),
        ("cooperative-sticky", "range", "range"),
        ("range", "sticky", "sticky"),
        ("cooperative-sticky", "roundrobin", "roundrobin"),
        ("consistent", "roundrobin", "consistent"),  # one bucket: the elder
        ("roundrobin", "consistent", "roundrobin"),
    ],
)
def test_equal_votes_are_settled_as_by_a_hash_map(one: str, two: str, chosen: str) -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", one, two))
    group.add(member("b", two, one))
    assert group.select_protocol() == chosen


def test_the_leader_is_the_first_member_and_passes_on() -> None:
    group = ClassicGroup("g", 0)
    for name in "abc":
        group.add(member(name))
    assert group.leader_id == "a"
    group.remove("a")
    assert group.leader_id == "b"
    group.park_join(group.members["c"], "caller")
    assert group.elect_joined_leader() is True
    assert group.leader_id == "c"
    group.park_join(group.members["c"], None)
    assert group.elect_joined_leader() is False
    group.remove("b")
    group.remove("c")
    assert [group.leader_id, group.elect_joined_leader()] == [None, False]


def test_parked_joins_are_counted_once() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a"))
    group.park_join(group.members["a"], 1)
    group.park_join(group.members["a"], 2)
    assert (group.awaiting_join_count, group.all_joined) == (1, True)
    group.pending_members["p"] = 5
    assert (group.all_joined,) == (False,)
    group.remove("p")
    group.park_join(group.members["a"], None)
    group.park_join(group.members["a"], None)
    assert group.awaiting_join_count == 0


def test_members_are_checked() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", instance="ia"))
    group.add(member("b"))
    assert group.check_member("a", "ia") == ErrorCode.NONE
    assert group.check_member("a", None) == ErrorCode.NONE
    assert group.check_member("b", "ia") == ErrorCode.FENCED_INSTANCE_ID
    assert group.check_member("b", "ib") == ErrorCode.UNKNOWN_MEMBER_ID
    assert group.check_member("x", None) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_is_replaced_in_place() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", instance="ia"))
    group.members["a"].assignment = b"left"
    replaced = group.replace_static("a", "a2")
    assert (replaced.member_id, replaced.assignment) == ("a2", b"left")
    assert group.static_members == {"ia": "a2"}
    assert group.leader_id == "a2"
    assert group.supported == {"range": 1}


def test_subscribed_topics_come_from_the_consumer_protocol() -> None:
    group = ClassicGroup("g", 0)
    assert group.is_subscribed("t") is False
    group.add(member("a"))
    assert group.is_subscribed("other") is True  # not known yet: take care
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(7)
    assert [group.subscribed_topics, group.is_subscribed("other")] == [frozenset({"t"}), False]
    group.members["a"].protocols = (("range", b"\0"),)
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(8)
    assert [group.subscribed_topics, group.is_subscribed("other")] == [None, True]


def test_another_subscription_of_a_static_member_counts_from_the_next_generation() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", instance="ia"))
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(7)
    group.replay_record(group.to_record_value())
    group.replace_static("a", "a2")
    group.members["a2"].protocols = (("range", subscription("u")),)
    group.replay_record(group.to_record_value())
    assert group.is_subscribed("t") is True  # it still owns partitions of it
    assert group.is_subscribed("u") is False
    group.transition(GroupState.PREPARING_REBALANCE, 8)
    group.start_generation(8)
    assert group.subscribed_topics == frozenset({"u"})


def test_a_record_rebuilds_the_group() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a", "range", "sticky", instance="ia"))
    group.add(member("b", "range"))
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(7)
    value = group.to_record_value({"a": b"left"})
    loaded = ClassicGroup("g", 0)
    loaded.replay_record(value)
    assert loaded.state is GroupState.STABLE
    assert loaded.generation == 1
    assert loaded.leader_id == "a"
    assert loaded.state_timestamp_ms == 7
    assert loaded.static_members == {"ia": "a"}
    assert {m.member_id: m.assignment for m in loaded.members.values()} == {"a": b"left", "b": b""}
    assert loaded.members["a"].protocols == (("range", subscription("t")),)
    assert loaded.to_record_value() == value

    # The same record on the group that made it: members keep all their protocols.
    group.replay_record(value)
    assert group.state is GroupState.STABLE
    assert len(group.members["a"].protocols) == 2
    assert group.to_record_value() == value == group.durable


def test_a_later_record_drops_members_of_an_earlier_one_and_keeps_new_ones() -> None:
    group = ClassicGroup("g", 0)
    group.add(member("a"))
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(7)
    loaded = ClassicGroup("g", 0)
    loaded.replay_record(group.to_record_value())
    loaded.add(member("new"))
    group.remove("a")
    group.state = GroupState.PREPARING_REBALANCE
    group.start_generation(8)
    loaded.replay_record(group.to_record_value())
    assert list(loaded.members) == ["new"]
    assert loaded.generation == 2
    loaded.remove("new")
    loaded.replay_record(group.to_record_value())
    assert loaded.state is GroupState.EMPTY
    assert loaded.protocol_type == "consumer"


def test_asking_a_member_for_a_protocol_it_lacks_is_a_bug() -> None:
    with pytest.raises(KeyError, match="does not support"):
        member("a").metadata("other")
    with pytest.raises(KeyError, match="supports none"):
        member("a").vote(["other"])
