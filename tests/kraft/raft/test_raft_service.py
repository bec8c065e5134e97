"""Requests of other replicas that are not as they should be: Kafka's error, nothing changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode
from pykbroker.kraft.metadata_snapshot import SnapshotId
from pykbroker.kraft.raft import raft_rpc
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.raft.raft_service import TWIN_LOG_INTERVAL_MS
from pykbroker.kraft.raft.voters import ReplicaKey
from pykbroker.protocol.messages.fetch_request import ReplicaState
from pykbroker.protocol.primitives import uuid_to_str
from tests.kraft.quorum_world import QuorumNode, QuorumWorld, over_the_wire

LATER = 1 << 20


@pytest.fixture
def world() -> QuorumWorld:
    world = QuorumWorld(3)
    world.leader()
    world.advance(1_000)
    return world


@pytest.fixture
def leader(world: QuorumWorld) -> QuorumNode:
    return world.leader()


@pytest.fixture
def follower(world: QuorumWorld, leader: QuorumNode) -> QuorumNode:
    return next(node for node in world.nodes.values() if node is not leader)


@pytest.fixture(autouse=True)
def unchanged(world: QuorumWorld) -> Iterator[None]:
    """None of these requests changes who leads."""
    before = [(node.raft.epoch, node.raft.leader_id) for node in world.nodes.values()]
    yield
    assert [(node.raft.epoch, node.raft.leader_id) for node in world.nodes.values()] == before


def me(node: QuorumNode) -> ReplicaKey:
    return node.raft.local.key  # type: ignore[no-any-return]


def ask(node: QuorumNode, message: Any, version: int) -> Any:
    request = over_the_wire(message, type(message), version)
    outcome, _ = node.handle(request, version)
    return outcome


def code_of(response: Any) -> ErrorCode:
    if response.error_code:
        return ErrorCode(response.error_code)
    partition = raft_rpc.only_partition(response)
    assert partition is not None
    return ErrorCode(partition.error_code)


def vote(node: QuorumNode, world: QuorumWorld, **changes: Any) -> Any:
    message = raft_rpc.make_vote(
        world.cluster_id, me(node), ReplicaKey(9), node.raft.epoch, LogEnd(0, 0), pre_vote=False
    )
    for name, value in changes.items():
        target: Any = message if hasattr(message, name) else message.topics[0].partitions[0]
        setattr(target, name, value)
    return ask(node, message, 2)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
        ({"partition_index": 1}, ErrorCode.INVALID_REQUEST),
        ({"replica_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"last_offset": -1}, ErrorCode.INVALID_REQUEST),
        ({"last_offset_epoch": LATER}, ErrorCode.INVALID_REQUEST),
        ({"replica_epoch": 0, "last_offset_epoch": 0, "pre_vote": True}, "old"),
        ({"voter_directory_id": b"x" * 16}, ErrorCode.INVALID_VOTER_KEY),
        ({"voter_id": 77}, ErrorCode.INVALID_VOTER_KEY),
    ],
)
def test_votes(
    world: QuorumWorld, follower: QuorumNode, changes: dict[str, Any], code: ErrorCode | str
) -> None:
    expected = ErrorCode.FENCED_LEADER_EPOCH if code == "old" else code
    response = vote(follower, world, **changes)
    assert code_of(response) == expected
    if response.topics:
        assert not response.topics[0].partitions[0].vote_granted


def test_a_follower_that_hears_its_leader_grants_no_pre_vote(
    world: QuorumWorld, follower: QuorumNode
) -> None:
    end = LogEnd(follower.raft.epoch, LATER)
    response = vote(follower, world, last_offset=end.offset, pre_vote=True)
    partition = response.topics[0].partitions[0]
    assert (partition.error_code, partition.vote_granted) == (0, False)
    assert partition.leader_id == follower.raft.leader_id
    assert [node.node_id for node in response.node_endpoints] == [follower.raft.leader_id]


@pytest.mark.parametrize("kind", ["begin", "end"])
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
        ({"leader_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
    ],
)
def test_epochs_of_leaders(
    world: QuorumWorld,
    leader: QuorumNode,
    follower: QuorumNode,
    kind: str,
    changes: dict[str, Any],
    code: ErrorCode,
) -> None:
    epoch = leader.raft.epoch
    message: Any
    if kind == "begin":
        message = raft_rpc.make_begin_epoch(
            world.cluster_id, me(follower), leader.raft.local, epoch
        )
    else:
        message = raft_rpc.make_end_epoch(world.cluster_id, leader.raft.local, epoch, ())
    for name, value in changes.items():
        target = message if hasattr(message, name) else message.topics[0].partitions[0]
        setattr(target, name, value)
    assert code_of(ask(follower, message, 1)) == code


def test_a_begin_epoch_for_another_directory(
    world: QuorumWorld, leader: QuorumNode, follower: QuorumNode
) -> None:
    stranger = ReplicaKey(follower.node_id, b"x" * 16)
    message = raft_rpc.make_begin_epoch(
        world.cluster_id, stranger, leader.raft.local, leader.raft.epoch
    )
    assert code_of(ask(follower, message, 1)) == ErrorCode.INVALID_VOTER_KEY


def fetch(node: QuorumNode, world: QuorumWorld, end: LogEnd, **changes: Any) -> Any:
    message = raft_rpc.make_fetch(
        world.cluster_id,
        ReplicaKey(9, b"9" * 16),
        node.raft.epoch,
        end,
        -1,
        max_wait_ms=0,
        max_bytes=1 << 20,
    )
    for name, value in changes.items():
        target: Any = message if hasattr(message, name) else message.topics[0].partitions[0]
        setattr(target, name, value)
    return ask(node, message, 18)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
        ({"max_wait_ms": -1}, ErrorCode.INVALID_REQUEST),
        ({"fetch_offset": -1}, ErrorCode.INVALID_REQUEST),
        ({"last_fetched_epoch": -1}, ErrorCode.INVALID_REQUEST),
        ({"last_fetched_epoch": LATER}, ErrorCode.INVALID_REQUEST),
        ({"current_leader_epoch": -1}, ErrorCode.INVALID_REQUEST),
        ({"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"current_leader_epoch": LATER}, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_fetches(
    world: QuorumWorld, leader: QuorumNode, changes: dict[str, Any], code: ErrorCode
) -> None:
    response = fetch(leader, world, LogEnd(0, 0), **changes)
    assert code_of(response) == code
    if response.responses:
        (partition,) = response.responses[0].partitions
        assert (len(partition.records), partition.high_watermark) == (0, -1)


def test_a_leader_that_has_committed_nothing_tells_no_high_watermark(
    world: QuorumWorld, leader: QuorumNode
) -> None:
    end, known = leader.driver.raft.log.end, leader.raft.high_watermark
    assert fetch(leader, world, end).responses[0].partitions[0].high_watermark == known
    waiting = fetch(leader, world, end, max_wait_ms=300, high_watermark=known - 1)
    assert not isinstance(waiting, Deferred)
    leader.raft.role.epoch_start_offset = known
    assert fetch(leader, world, end).responses[0].partitions[0].high_watermark == -1
    assert isinstance(
        fetch(leader, world, end, max_wait_ms=300, high_watermark=known - 1), Deferred
    )


def test_a_second_node_with_the_leaders_id_gets_nothing(
    world: QuorumWorld, leader: QuorumNode
) -> None:
    twin = ReplicaState(replica_id=leader.node_id)
    response = fetch(leader, world, leader.driver.raft.log.end, replica_state=twin)
    assert code_of(response) == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_second_node_with_the_leaders_id_is_logged_once_a_minute(
    world: QuorumWorld, leader: QuorumNode, caplog: pytest.LogCaptureFixture
) -> None:
    twin = ReplicaState(replica_id=leader.node_id)
    for wait_ms, lines in ((0, 1), (TWIN_LOG_INTERVAL_MS - 10, 1), (10, 2)):
        world.advance(wait_ms)
        for _ in range(3):
            fetch(leader, world, leader.driver.raft.log.end, replica_state=twin)
        assert len(caplog.messages) == lines
    directory_id = uuid_to_str(b"9" * 16)
    assert f"with this node's id, {leader.node_id}" in caplog.text
    assert f"(directory.id {directory_id})" in caplog.text


def test_a_follower_sends_replicas_to_its_leader(
    world: QuorumWorld, leader: QuorumNode, follower: QuorumNode
) -> None:
    response = fetch(follower, world, LogEnd(0, 0))
    assert code_of(response) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    partition = response.responses[0].partitions[0]
    assert partition.current_leader.leader_id == leader.node_id
    (endpoint,) = response.node_endpoints
    assert (endpoint.node_id, endpoint.port) == (leader.node_id, 9000 + leader.node_id)


def test_a_log_that_parted_learns_where(world: QuorumWorld, leader: QuorumNode) -> None:
    epoch, end = leader.driver.raft.log.end
    response = fetch(leader, world, LogEnd(epoch, end + 10))
    partition = response.responses[0].partitions[0]
    assert (partition.error_code, len(partition.records)) == (0, 0)
    diverging = partition.diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (epoch, end)


def test_a_replica_that_knows_all_waits_until_there_is_more(
    world: QuorumWorld, leader: QuorumNode
) -> None:
    raft = leader.raft
    end = leader.driver.raft.log.end
    waiting = fetch(leader, world, end, max_wait_ms=300, high_watermark=raft.high_watermark)
    assert isinstance(waiting, Deferred)
    assert not waiting.done
    world.settle(world.change(leader, 1))
    assert waiting.value.responses[0].partitions[0].error_code == 0


def snapshot(node: QuorumNode, world: QuorumWorld, at: SnapshotId, **changes: Any) -> Any:
    message = raft_rpc.make_fetch_snapshot(
        world.cluster_id, ReplicaKey(9, b"9" * 16), node.raft.epoch, at, 0, 100
    )
    for name, value in changes.items():
        target: Any = message if hasattr(message, name) else message.topics[0].partitions[0]
        setattr(target, name, value)
    return ask(node, message, 1)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
        ({"partition": 3}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"current_leader_epoch": LATER}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ({"position": -1}, ErrorCode.POSITION_OUT_OF_RANGE),
        ({"position": LATER}, ErrorCode.POSITION_OUT_OF_RANGE),
    ],
)
def test_snapshots(
    world: QuorumWorld, leader: QuorumNode, changes: dict[str, Any], code: ErrorCode
) -> None:
    leader.driver.take_snapshot()
    world.advance(100)
    at = leader.driver.raft.log.latest_snapshot_id()
    assert at is not None
    response = snapshot(leader, world, at, **changes)
    if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        assert response.topics[0].partitions[0].error_code == code
    else:
        assert code_of(response) == code


def test_slices_of_a_snapshot_are_the_file(world: QuorumWorld, leader: QuorumNode) -> None:
    leader.driver.take_snapshot()
    world.advance(100)
    log = leader.driver.raft.log
    at = log.latest_snapshot_id()
    assert at is not None
    content = b""
    while True:
        partition = snapshot(leader, world, at, position=len(content)).topics[0].partitions[0]
        assert partition.position == len(content)
        content += partition.unaligned_records
        if len(content) == partition.size:
            break
    assert content == log.files.read_file(f"{log.directory}/{at.file_name}")


def test_a_snapshot_that_is_not_there(world: QuorumWorld, leader: QuorumNode) -> None:
    for at in (SnapshotId(5, 1), SnapshotId(0, 0)):
        assert code_of(snapshot(leader, world, at)) == ErrorCode.SNAPSHOT_NOT_FOUND
