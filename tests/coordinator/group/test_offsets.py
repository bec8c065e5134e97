"""Decisions about offsets: expiry rules, topic ids, open transactions."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.group import offsets
from pykbroker.coordinator.group.classic.group import ClassicGroup
from pykbroker.coordinator.group.classic.states import GroupState
from pykbroker.coordinator.group.offset_store import OffsetStore
from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.offset_commit_value import OffsetCommitValue
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.coordinator.group_world import GroupWorld

DAY = 86_400_000
ID = b"one topic's id.."
OTHER_ID = b"another one's id"


def store_with(**value: object) -> OffsetStore:
    store = OffsetStore()
    store.replay_commit("g", "t", 0, OffsetCommitValue(offset=5, **value), 0, -1)  # type: ignore[arg-type]
    return store


def group_in(
    state: GroupState, *, kind: str | None, since_ms: int = 0, topics: set[str] | None = None
) -> ClassicGroup:
    group = ClassicGroup("g", since_ms)
    group.state = state
    group.protocol_type = kind
    group.subscribed_topics = None if topics is None else frozenset(topics)
    return group


# (group, commit time, explicit expiry) -> expired at DAY with a retention of half a day?
EXPIRY = {
    "simple group, old commit": (group_in(GroupState.EMPTY, kind=None), 0, -1, True),
    "simple group, new commit": (group_in(GroupState.EMPTY, kind=None), DAY, -1, False),
    "empty for long": (group_in(GroupState.EMPTY, kind="consumer", topics=set()), DAY, -1, True),
    "empty since a moment": (
        group_in(GroupState.EMPTY, kind="consumer", since_ms=DAY, topics=set()),
        0,
        -1,
        False,
    ),
    "empty, no timestamp in an old record": (
        group_in(GroupState.EMPTY, kind="consumer", since_ms=-1, topics=set()),
        0,
        -1,
        True,
    ),
    "stable, subscribed": (
        group_in(GroupState.STABLE, kind="consumer", topics={"t"}),
        0,
        -1,
        False,
    ),
    "stable, not subscribed any more": (
        group_in(GroupState.STABLE, kind="consumer", topics={"u"}),
        0,
        -1,
        True,
    ),
    "stable, subscription unknown": (group_in(GroupState.STABLE, kind="consumer"), 0, -1, False),
    "stable, another protocol type": (group_in(GroupState.STABLE, kind="connect"), 0, -1, False),
    "rebalancing": (
        group_in(GroupState.PREPARING_REBALANCE, kind="consumer", topics={"u"}),
        0,
        -1,
        False,
    ),
    "its own expiry has come": (group_in(GroupState.EMPTY, kind=None), DAY, DAY, True),
    "its own expiry is far": (group_in(GroupState.EMPTY, kind=None), 0, 2 * DAY, False),
}


@pytest.mark.parametrize("case", EXPIRY)
def test_expiry(case: str) -> None:
    group, committed_ms, expires_ms, expired = EXPIRY[case]
    store = store_with(commit_timestamp=committed_ms, expire_timestamp=expires_ms)
    records, none_left = offsets.expire(store, group, DAY, DAY // 2)
    assert (len(records) == 1) == expired
    assert none_left == expired


@pytest.mark.parametrize(("age_ms", "expired"), [(DAY - 1, False), (DAY, True)])
def test_an_offset_expires_when_it_is_as_old_as_the_retention(age_ms: int, expired: bool) -> None:
    simple = group_in(GroupState.EMPTY, kind=None)
    store = store_with(commit_timestamp=1000)
    assert len(offsets.expire(store, simple, 1000 + age_ms, DAY)[0]) == expired
    empty = group_in(GroupState.EMPTY, kind="consumer", since_ms=5000, topics=set())
    assert len(offsets.expire(store, empty, 5000 + age_ms, DAY)[0]) == expired
    explicit = store_with(commit_timestamp=0, expire_timestamp=1000 + DAY)
    assert len(offsets.expire(explicit, simple, 1000 + age_ms, 1)[0]) == expired


@pytest.mark.parametrize("generation", [0, 2, 3, 2**31 - 1])
def test_a_member_commits_in_the_current_generation_only(generation: int) -> None:
    """A future generation is as illegal as a past one."""
    world = GroupWorld(initial_rebalance_delay_ms=0)
    world.elect()
    world.join(instance="i", version=9)
    world.advance(0)
    world.sync(member="i-01", instance="i", generation=1, assign="i-01:all")
    refused = world.commit(member="i-01", instance="i", generation=generation)
    assert refused.topics[0].partitions[0].error_code == ErrorCode.ILLEGAL_GENERATION
    assert world.shard.offsets.get("g", "t", 0) is None
    accepted = world.commit(member="i-01", instance="i", generation=1)
    assert accepted.topics[0].partitions[0].error_code == 0


def test_an_open_transaction_holds_offset_and_group() -> None:
    store = store_with(commit_timestamp=0)
    store.replay_commit("g", "t", 0, OffsetCommitValue(offset=6), 1, 77)
    group = group_in(GroupState.EMPTY, kind=None)
    assert offsets.expire(store, group, DAY, 1) == ([], False)
    store.replay_end_of_transaction(77, False)
    records, none_left = offsets.expire(store, group, DAY, 1)
    assert len(records) == 1
    assert none_left


def test_a_group_without_offsets_is_done_unless_a_transaction_is_open() -> None:
    group = group_in(GroupState.EMPTY, kind=None)
    store = OffsetStore()
    assert offsets.expire(store, group, DAY, 1) == ([], True)
    store.replay_commit("g", "t", 0, OffsetCommitValue(offset=6), 1, 77)
    assert offsets.expire(store, group, DAY, 1) == ([], False)


@pytest.mark.parametrize(
    ("committed_for", "asked_for", "offset"),
    [(ID, ID, 5), (ID, OTHER_ID, -1), (bytes(16), ID, 5), (ID, bytes(16), 5)],
)
def test_an_offset_of_another_topic_of_the_same_name_is_none(
    committed_for: bytes, asked_for: bytes, offset: int
) -> None:
    store = store_with(topic_id=committed_for)
    topic = OffsetFetchRequestTopics(name="t", topic_id=asked_for, partition_indexes=[0])
    reply = offsets.fetch(store, OffsetFetchRequestGroup(group_id="g", topics=[topic]), False)
    assert reply.topics[0].partitions[0].committed_offset == offset


@pytest.mark.parametrize(
    ("committed_for", "doomed"), [(ID, True), (OTHER_ID, False), (bytes(16), True)]
)
def test_a_deleted_topic_takes_only_its_own_offsets(committed_for: bytes, doomed: bool) -> None:
    store = store_with(topic_id=committed_for)
    store.replay_commit("g", "t", 1, OffsetCommitValue(offset=6, topic_id=committed_for), 1, 77)
    records = offsets.delete_topics(store, [(ID, "t"), (OTHER_ID, "never committed")])
    assert [(r.key.partition, r.value) for r in records] == ([(0, None), (1, None)] * doomed)


@pytest.mark.parametrize("require_stable", [True, False])
def test_unstable_offsets_are_told_to_those_who_ask(require_stable: bool) -> None:
    store = store_with()
    store.replay_commit("g", "t", 0, OffsetCommitValue(offset=6), 1, 77)
    for topics in (None, [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]):
        reply = offsets.fetch(
            store, OffsetFetchRequestGroup(group_id="g", topics=topics), require_stable
        )
        partition = reply.topics[0].partitions[0]
        if require_stable:
            assert partition.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
            assert partition.committed_offset == -1
        else:
            assert (partition.error_code, partition.committed_offset) == (0, 5)


def test_deleting_all_offsets_covers_pending_ones_once() -> None:
    store = store_with()
    store.replay_commit("g", "t", 0, OffsetCommitValue(offset=6), 1, 77)
    store.replay_commit("g", "t", 1, OffsetCommitValue(offset=6), 2, 77)
    records = offsets.delete_all(store, "g")
    assert [(r.key.topic, r.key.partition, r.value) for r in records] == [
        ("t", 0, None),
        ("t", 1, None),
    ]


@pytest.mark.parametrize(
    ("metadata", "accepted"),
    [("ab", True), ("abc", False), ("\U0001f600", True), ("a\U0001f600", False)],
)
def test_metadata_is_measured_as_java_measures_strings(metadata: str, accepted: bool) -> None:
    world = GroupWorld(offset_metadata_max_bytes=2)
    world.elect()
    reply = world.commit(metadata=metadata)
    code = reply.topics[0].partitions[0].error_code
    assert code == (0 if accepted else ErrorCode.OFFSET_METADATA_TOO_LARGE)


def test_an_offset_delete_of_a_simple_group_needs_no_members() -> None:
    world = GroupWorld()
    world.elect()
    world.commit(offsets="t-0:1")
    reply = world.delete_offsets(topics="t-0")
    assert reply.topics[0].partitions[0].error_code == 0
    assert world.fetch(topics="t-0").topics[0].partitions[0].committed_offset == -1
