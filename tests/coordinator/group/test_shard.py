"""The machine as a whole: its durable state is a function of its log, whatever happened."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.coordinator.group.settings import GroupSettings
from pykbroker.coordinator.group.shard import GroupShard
from pykbroker.decision import CoordinatorRecord
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from pykbroker.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from pykbroker.protocol.messages.sync_group_request import SyncGroupRequest
from tests.coordinator.group_world import CODEC, GroupWorld

GROUPS = ("g", "h")
COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "join", "join", "join", "rejoin", "rejoin", "sync", "sync", "sync", "heartbeat",
                "leave", "commit", "commit", "simple-commit", "advance", "advance-far", "delete",
                "delete-topic", "refuse", "lose", "offset-delete",
            ]
        ),
        st.integers(0, 7),
    ),
    max_size=60,
)  # fmt: skip


def do(world: GroupWorld, verb: str, number: int) -> None:
    """One random step; `number` picks group, member and versions."""
    group = GROUPS[number % 2]
    known = world.shard.groups.get(group) if world.groups.runtime._hosted[0].shard else None
    members = list(known.members.values()) if known is not None else []
    member = members[number % len(members)] if members else None
    who: dict[str, Any] = {"group": group, "member": member.member_id if member else "ghost"}
    if verb == "join":
        instance = f"i{number}" if number > 5 else None
        world.join(group=group, instance=instance, version=3 + number % 7, session=6_000 + number)
    elif verb == "rejoin":
        pending = list(known.pending_members) if known is not None else []
        if pending and number % 3 == 0:
            who["member"] = pending[0]
        world.join(**who, version=9, topics="t" if number < 6 else "u")
    elif verb == "sync":
        generation = known.generation if known is not None else 1
        assign = ",".join(f"{m.member_id}:{number}" for m in members)
        world.sync(**who, generation=generation, protocol=None, assign=assign)
    elif verb == "heartbeat":
        world.heartbeat(**who, generation=known.generation if known is not None else 1)
    elif verb == "leave":
        world.leave(group=group, members=who["member"])
    elif verb == "commit":
        generation = known.generation if known is not None else 1
        world.commit(**who, generation=generation, offsets=f"t-{number}:{number}")
    elif verb == "simple-commit":
        world.commit(group="simple", offsets=f"u-{number}:{number}", retention=number * 1000)
    elif verb == "advance":
        world.advance(number * 1000)
    elif verb == "advance-far":
        world.advance(70_000)
    elif verb == "delete":
        world.delete_groups(groups=f"{group},simple")
    elif verb == "delete-topic":
        world.delete_topics("u")
    elif verb == "refuse":
        world.log.refuse_with = int(ErrorCode.NOT_ENOUGH_REPLICAS)
    elif verb == "offset-delete":
        world.delete_offsets(group=group, topics=f"t-{number}")
    else:
        lose(world, number)


def lose(world: GroupWorld, number: int) -> None:
    """A commit whose write fails: the machine is loaded anew."""
    from pykbroker.protocol.messages.offset_commit_request import (
        OffsetCommitRequest,
        OffsetCommitRequestTopic,
    )

    topics = [OffsetCommitRequestTopic(name="t")]
    request = OffsetCommitRequest(group_id="simple", topics=topics)
    world.groups.commit_offsets(request, 9)
    world.log.lose_queued(int(ErrorCode.KAFKA_STORAGE_ERROR))
    world.advance(0)


def check_members(world: GroupWorld) -> None:
    """The counts that a group keeps agree with its members."""
    for group in world.shard.groups.values():
        members = group.members.values()
        assert group.awaiting_join_count == sum(m.awaiting_join is not None for m in members)
        statics = {m.group_instance_id: m.member_id for m in members if m.group_instance_id}
        assert group.static_members == statics
        assert group.leader_id in (*group.members, None)
        counted: dict[str, int] = {}
        for m in members:
            for name, _ in m.protocols:
                counted[name] = counted.get(name, 0) + 1
        assert group.supported == counted
        assert not group.pending_sync - group.members.keys()


def eventful_world() -> GroupWorld:
    """Small limits and short times, so that everything happens."""
    world = GroupWorld(
        initial_rebalance_delay_ms=2_000,
        max_size=4,
        offsets_retention_ms=200_000,
        offsets_retention_check_interval_ms=50_000,
    )
    world.elect()
    world.commit(group="simple")  # the machine is there from now on
    return world


@given(COMMANDS)
@settings(max_examples=150, deadline=None)
def test_replaying_the_log_gives_the_same_state(commands: list[tuple[str, int]]) -> None:
    world = eventful_world()
    for verb, number in commands:
        do(world, verb, number)
        check_members(world)
    loaded = GroupShard(world.settings)
    for offset, key, value in world.log.records(0):
        assert key is not None
        record = CODEC.decode(key, value)
        assert record is not None
        loaded.replay(record, offset)
    groups, committed = world.durable_state()
    assert {name: g.durable for name, g in loaded.groups.items() if g.durable} == {
        name: durable for name, durable in groups.items() if durable
    }
    reloaded = GroupWorld()
    reloaded.log = world.log
    reloaded.restart()
    assert reloaded.durable_state()[1] == committed
    for name, group in reloaded.shard.groups.items():
        assert group.generation == (group.durable.generation if group.durable else 0)
        assert group.state.value in ("Empty", "Stable"), name


@given(COMMANDS)
@settings(max_examples=60, deadline=None)
def test_every_caller_gets_exactly_one_reply(commands: list[tuple[str, int]]) -> None:
    world = GroupWorld(initial_rebalance_delay_ms=2_000)
    asked: list[Deferred] = []
    ask = world.ask

    def note(caller: str, outcome: Any, show: Any) -> Any:
        if isinstance(outcome, Deferred):
            asked.append(outcome)
        return ask(caller, outcome, show)

    world.ask = note  # type: ignore[method-assign]
    world.elect()
    world.commit(group="simple")
    for verb, number in commands:
        do(world, verb, number)
    world.groups.stop()  # a second reply to one caller would have raised
    assert all(deferred.done for deferred in asked)


VERBS = (
    ["join"] * 3 + ["rejoin"] * 6 + ["sync"] * 6 + ["heartbeat"] * 4 + ["commit"] * 2
    + ["leave", "simple-commit", "advance", "advance", "advance-far", "delete", "delete-topic"]
    + ["refuse", "lose", "offset-delete"]
)  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_long_lives(seed: int) -> None:
    """200 steps: far into generations that short random scripts do not reach."""
    choice = random.Random(seed)
    world = eventful_world()
    for _ in range(200):
        do(world, choice.choice(VERBS), choice.randrange(8))
        check_members(world)
    groups, committed = world.durable_state()
    world.restart()
    loaded = world.durable_state()
    assert {name: durable for name, durable in loaded[0].items() if durable} == {
        name: durable for name, durable in groups.items() if durable
    }
    assert loaded[1] == committed


def test_a_loaded_member_has_the_timeouts_of_its_last_record() -> None:
    world = GroupWorld()
    world.elect()
    world.join(instance="i", version=9, session=10_000, rebalance=60_000)
    world.advance(3_000)
    member = "i-01"
    world.sync(member=member, instance="i", generation=1, assign=f"{member}:x")
    world.join(member=member, instance="i", version=9, session=20_000, rebalance=90_000)
    world.sync(member=member, instance="i", generation=2, assign=f"{member}:x")
    world.restart()
    loaded = world.group("g").members[member]
    assert (loaded.session_timeout_ms, loaded.rebalance_timeout_ms) == (20_000, 90_000)


def test_a_loaded_group_subscribes_to_what_its_last_record_names() -> None:
    """Before the fail-over, the new subscription waits for the next generation."""
    world = GroupWorld()
    world.elect()
    world.join(instance="i", version=9, topics="t")
    world.advance(3_000)
    world.sync(member="i-01", instance="i", generation=1, assign="i-01:x")
    world.join(instance="i", version=9, topics="u")
    assert world.group("g").subscribed_topics == frozenset({"t"})
    world.restart()
    assert world.group("g").subscribed_topics == frozenset({"u"})


def test_offsets_of_the_format_before_0_9_are_read() -> None:
    shard = GroupShard(GroupSettings())
    key = LegacyOffsetCommitKey(group="old", topic="t", partition=3)
    value = LegacyOffsetCommitValue(offset=9, metadata="m", commit_timestamp=7)
    shard.replay(CoordinatorRecord(key, value), 0)
    entry = shard.offsets.get("old", "t", 3)
    assert entry is not None
    assert (entry.offset, entry.metadata, entry.commit_timestamp_ms) == (9, "m", 7)
    assert "old" in shard.groups
    shard.replay(CoordinatorRecord(key, None), 1)
    assert shard.offsets.get("old", "t", 3) is None


def test_a_timer_of_a_group_that_is_gone_does_nothing() -> None:
    shard = GroupShard(GroupSettings())
    for key in (("session", "g", "m"), ("join", "g"), ("sync", "g")):
        decision = shard.timer_expired(key, 0)
        assert (decision.records, decision.timers) == ([], [])
    with pytest.raises(RuntimeError, match="unknown timer"):
        shard.timer_expired("nonsense", 0)


def test_a_sync_to_nobody() -> None:
    world = GroupWorld()
    world.elect()
    reply = world.groups.sync(SyncGroupRequest(group_id="", member_id="m"))
    assert not isinstance(reply, Deferred)
    assert reply.error_code == ErrorCode.INVALID_GROUP_ID
