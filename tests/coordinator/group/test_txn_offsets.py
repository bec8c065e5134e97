"""Offsets that a transaction commits: who may commit, and when they become visible."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.coordinator.group import txn_offsets
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.log.producers.verification import VerificationGuard
from pykbroker.protocol.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from pykbroker.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from pykbroker.protocol.messages.write_txn_markers_request import WritableTxnMarker
from pykbroker.protocol.record_batch import read_header
from tests.coordinator.group_world import GroupWorld

PRODUCER = 77
ID = b"one topic's id.."


def request(offset: int = 5, group: str = "g", **fields: Any) -> TxnOffsetCommitRequest:
    at = TxnOffsetCommitRequestPartition(
        partition_index=0,
        committed_offset=offset,
        committed_leader_epoch=3,
        committed_metadata=fields.pop("metadata", None),
    )
    topic = TxnOffsetCommitRequestTopic(name="t", topic_id=ID, partitions=[at])
    named = {"producer_id": PRODUCER, "producer_epoch": 2, "generation_id_or_member_epoch": -1}
    return TxnOffsetCommitRequest(
        transactional_id="x", group_id=group, topics=[topic], **(named | fields)
    )


class World(GroupWorld):
    def send_offsets(
        self, asked: TxnOffsetCommitRequest, version: int = 6, guard: Any = None
    ) -> int:
        outcome = self.groups.commit_transactional_offsets(asked, version, guard)
        self.log.end_turn()
        reply = outcome.value if isinstance(outcome, Deferred) else outcome
        (topic,) = reply.topics
        assert (topic.name, topic.topic_id) == ("t", ID)
        code: int = topic.partitions[0].error_code
        return code

    def end(self, committed: bool) -> int:
        marker = WritableTxnMarker(
            producer_id=PRODUCER, producer_epoch=2, transaction_result=committed
        )
        outcome: Any = self.groups.end_transaction(0, marker)
        self.log.end_turn()
        code: int = outcome.value
        return code

    def committed(self, require_stable: bool = False, group: str = "g") -> tuple[int, int]:
        topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
        asked = OffsetFetchRequestGroup(group_id=group, topics=topics)
        reply: Any = self.groups.fetch_offsets(asked, require_stable)
        found = reply.topics[0].partitions[0]
        return found.committed_offset, found.error_code


@pytest.fixture
def world() -> World:
    world = World(initial_rebalance_delay_ms=0)
    world.elect()
    return world


@pytest.mark.parametrize("committed", [True, False])
def test_the_offsets_show_at_the_marker_live(world: World, committed: bool) -> None:
    world.commit(offsets="t-0:1")
    assert world.send_offsets(request(5)) == 0
    assert world.committed() == (1, 0)
    assert world.committed(require_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    assert world.end(committed) == 0
    expected = (5 if committed else 1, 0)
    assert world.committed() == world.committed(require_stable=True) == expected
    world.restart()
    assert world.committed(require_stable=True) == expected


def test_an_open_transaction_is_open_after_a_fail_over(world: World) -> None:
    world.send_offsets(request(5))
    world.restart()
    assert world.committed(require_stable=True) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    world.end(True)
    assert world.committed() == (5, 0)


def test_all_that_a_commit_says_is_kept(world: World) -> None:
    world.send_offsets(request(5, metadata="m"))
    world.end(True)
    entry = world.shard.offsets.get("g", "t", 0)
    assert entry is not None
    now_ms = world.loop.now_ms()
    assert entry.as_tuple() == (5, 3, "m", now_ms, -1, ID, 0)


def test_the_records_are_one_batch_of_the_transaction(world: World) -> None:
    guard = VerificationGuard()
    world.send_offsets(request(), guard=guard)
    assert world.log.appended_with == (guard, 0)
    (batch,) = world.log.partitions[0].batches
    header = read_header(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (PRODUCER, 2, 0)
    assert header.is_transactional


def test_what_the_log_refuses_opens_nothing(world: World) -> None:
    world.log.refuse_with = int(ErrorCode.INVALID_TXN_STATE)
    assert world.send_offsets(request()) == ErrorCode.INVALID_TXN_STATE
    assert world.shard.offsets.pending == {}


def test_a_node_that_does_not_coordinate_the_group() -> None:
    assert World().send_offsets(request()) == ErrorCode.NOT_COORDINATOR


def test_metadata_that_is_too_long(world: World) -> None:
    asked = request(metadata="m" * (world.settings.offset_metadata_max_bytes + 1))
    assert world.send_offsets(asked) == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert world.log.partitions[0].batches == []


# ---- who may commit (KIP-447)


@pytest.mark.parametrize(
    "version, generation, code",
    [
        (6, 3, ErrorCode.GROUP_ID_NOT_FOUND),
        (5, 3, ErrorCode.ILLEGAL_GENERATION),
        (0, -1, ErrorCode.NONE),
    ],
)
def test_a_group_that_does_not_exist(
    world: World, version: int, generation: int, code: int
) -> None:
    asked = request(generation_id_or_member_epoch=generation)
    assert world.send_offsets(asked, version) == code
    assert list(world.shard.groups) == ([] if code else ["g"])


def test_anybody_commits_for_a_group_without_members(world: World) -> None:
    world.commit(offsets="t-0:1")
    assert world.send_offsets(request(member_id="nobody")) == 0
    asked = request(member_id="nobody", generation_id_or_member_epoch=0)
    assert world.send_offsets(asked) == ErrorCode.UNKNOWN_MEMBER_ID


def stable(world: World) -> str:
    """A static member with an assignment: generation 1."""
    world.join("a", instance="i", version=9)
    world.advance(0)
    (member_id,) = world.group("g").members
    world.sync("a", member=member_id, generation=1, assign=f"{member_id}:all")
    return member_id


@pytest.mark.parametrize(
    "member, generation, instance, code",
    [
        ("own", 1, None, ErrorCode.NONE),
        ("own", 1, "i", ErrorCode.NONE),
        ("own", 0, None, ErrorCode.ILLEGAL_GENERATION),
        ("own", -1, None, ErrorCode.ILLEGAL_GENERATION),
        ("other", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("other", 1, "i", ErrorCode.FENCED_INSTANCE_ID),
        ("own", 1, "j", ErrorCode.UNKNOWN_MEMBER_ID),
        ("", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", -1, None, ErrorCode.NONE),  # a producer before KIP-447
    ],
)
def test_members_of_a_group(
    world: World, member: str, generation: int, instance: str | None, code: int
) -> None:
    member_id = stable(world)
    asked = request(
        member_id=member_id if member == "own" else member,
        generation_id_or_member_epoch=generation,
        group_instance_id=instance,
    )
    assert world.send_offsets(asked) == code


def test_a_rebalance_in_progress_does_not_matter(world: World) -> None:
    member_id = stable(world)
    world.join("b", version=3)  # the group prepares its next generation
    asked = request(member_id=member_id, generation_id_or_member_epoch=1)
    assert world.send_offsets(asked) == 0


def test_error_reply_of_every_partition() -> None:
    (topic,) = txn_offsets.commit_error(request(), 15).topics
    assert [(p.partition_index, p.error_code) for p in topic.partitions] == [(0, 15)]


# ---- deleting and expiring


def test_deleted_offsets_do_not_come_back(world: World) -> None:
    world.send_offsets(request(5))
    world.delete_offsets(topics="t-0")
    assert world.committed(require_stable=True) == (-1, 0)
    world.end(True)
    assert world.committed() == (-1, 0)


def test_offsets_of_an_open_transaction_do_not_expire() -> None:
    world = World(offsets_retention_ms=1000, offsets_retention_check_interval_ms=2000)
    world.elect()
    world.commit(offsets="t-0:1")
    world.send_offsets(request(5))
    world.advance(5000)
    assert world.committed() == (1, 0)
    world.end(False)
    world.advance(5000)
    assert world.committed() == (-1, 0)
    assert world.shard.groups == {}
