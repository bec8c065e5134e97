"""Quorums of several voters through the real drivers: elections, failover, observers, snapshots."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pykbroker.decision import Decision, MetadataRecord
from pykbroker.deferred import Deferred, spawn
from pykbroker.environment.background import Threads
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.delta import MetadataDelta
from pykbroker.kraft.image import MetadataImage
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.kraft.metadata_snapshot import Snapshot, SnapshotId
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.commit_delivery import PORTION_RECORDS
from pykbroker.kraft.raft.raft_driver import DivergedBelowCommit
from pykbroker.kraft.raft.raft_fetcher_driver import DECODED_AT_ONCE
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from pykbroker.protocol.messages.topic_record import TopicRecord
from pykbroker.protocol.record_batch import CorruptBatch, build_batch
from pykbroker.types import Peer
from tests.harness.records import partition_record
from tests.kraft.quorum_world import QuorumNode, QuorumWorld


def test_three_voters_elect_and_replicate() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    for via in world.nodes.values():
        reply = world.settle(world.change(via, via.node_id))
        assert reply.error_code == 0
    world.advance(1_000)
    for node in world.nodes.values():
        assert all(world.has(node, number) for number in (1, 2, 3))
    world.agree()
    assert leader.raft.high_watermark > 3


def test_voters_that_know_no_pre_votes_elect_a_leader() -> None:
    world = QuorumWorld(3)
    world.versions |= {(node_id, "Vote"): 1 for node_id in world.nodes}
    world.leader().kill()
    assert world.settle(world.change(world.leader(), 1)).error_code == 0


def test_an_observer_follows_and_learns_of_a_new_leader() -> None:
    world = QuorumWorld(3, observers=1)
    old = world.leader()
    observer = world.nodes[4]
    world.advance(2_000)
    assert observer.raft.leader_id == old.node_id
    assert observer.driver.image.offset > 0
    before = observer.driver.image.offset
    old.kill()
    new = world.leader()
    world.advance(5_000)
    assert observer.raft.leader_id == new.node_id
    assert observer.driver.image.offset > before


def test_a_leader_that_died_follows_when_it_comes_back() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    old.kill()
    new = world.leader()
    world.settle(world.change(new, 1))
    old.start()
    world.advance(5_000)
    assert old.raft.leader_id == new.node_id
    world.agree()


def test_records_that_only_a_lost_leader_had_are_cut() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    others = [node.node_id for node in world.nodes.values() if node is not old]
    world.cut |= {(old.node_id, other) for other in others}
    world.cut |= {(other, old.node_id) for other in others}
    lost = world.change(old, 1, timeout_ms=500)
    world.advance(10_000)
    assert isinstance(lost.value, KafkaError)
    new = world.leader() if world.leader() is not old else None
    assert new is not None
    world.settle(world.change(new, 2))
    world.cut.clear()
    world.advance(5_000)
    world.agree()
    assert (world.has(old, 1), world.has(old, 2)) == (False, True)
    assert not old.raft.is_leader


def test_many_records_at_once_reach_everyone_whole() -> None:
    world = QuorumWorld(3, observers=1)
    leader = world.leader()
    topic_id = b"t" * 16
    count = 3 * PORTION_RECORDS
    records = [MetadataRecord(TopicRecord(name="many", topic_id=topic_id))]
    records += [MetadataRecord(partition_record(topic_id, number)) for number in range(count)]
    for node in world.nodes.values():
        node.driver.publish_to([Whole(topic_id, count)])
    controller = leader.driver.controller
    assert controller is not None
    reply = controller.run(lambda _machine, _now_ms: Decision(records=records, reply="done"))
    assert world.settle(reply) == "done"
    assert len(leader.driver.image.topics_by_id[topic_id].partitions) == count
    world.advance(2_000)
    world.agree()
    for node in world.nodes.values():
        assert len(node.driver.image.topics_by_id[topic_id].partitions) == count


class Whole:
    """A publisher to which a topic never shows with fewer partitions than it has."""

    def __init__(self, topic_id: bytes, count: int) -> None:
        self._topic_id = topic_id
        self._count = count

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        topic = image.topic_by_id(self._topic_id)
        assert topic is None or len(topic.partitions) == self._count


def test_damage_among_many_fetched_records_is_not_appended() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    late = next(node for node in world.nodes.values() if node is not leader)
    world.advance(1_000)
    values = [(None, encode_metadata_record(MetadataRecord(NoOpRecord())), 0, ())] * DECODED_AT_ONCE
    end = late.driver.raft.log.log.next_offset
    batch = build_batch(values, base_offset=end, leader_epoch=late.raft.epoch)
    batch[-1] ^= 1
    links = late.driver._links
    assert links is not None
    outcome = spawn(links._fetcher._append(bytes(batch)))
    world.advance(100)
    assert isinstance(outcome.value, CorruptBatch)
    assert late.driver.raft.log.log.next_offset == end


def test_a_lagging_voter_fetches_a_snapshot() -> None:
    world = QuorumWorld(3, metadata_max_retention_bytes="1")
    leader = world.leader()
    late = next(node for node in world.nodes.values() if node is not leader)
    late.kill()
    for number in range(5):
        world.settle(world.change(leader, number))
    leader.driver.take_snapshot()
    world.advance(120_000)
    assert leader.driver.raft.log.start_offset > 0
    late.start()
    world.advance(10_000)
    world.agree()
    assert late.driver.raft.log.start_offset > 0


class ChangingThreads:
    """Threads; during one of their next jobs their node hears of another epoch."""

    def __init__(self, node: QuorumNode, threads: Threads, number: int) -> None:
        self._node = node
        self._threads = threads
        self._left = number

    def run(self, job: Callable[[], object]) -> Deferred:
        outcome = self._threads.run(job)
        if self._left == 0:
            raft = self._node.driver.raft
            raft.step(ev.NewsReceived(raft.raft.epoch + 1, -1))
        self._left -= 1
        return outcome

    def close(self) -> None:
        self._threads.close()


def test_a_log_is_not_cut_below_its_snapshot_before_a_leader_is_known() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    world.settle(world.change(leader, 1))
    world.agree()
    node = next(node for node in world.nodes.values() if node is not leader)
    node.driver.take_snapshot()
    world.advance(1_000)
    node.kill()
    world.cut |= {(other, node.node_id) for other in world.nodes}
    node.start()
    assert node.raft.high_watermark == -1
    with pytest.raises(DivergedBelowCommit):
        node.driver.raft.truncate(node.driver.raft.log.end.epoch, 1)


@pytest.mark.parametrize("number", [0, 1])
def test_a_snapshot_of_an_epoch_that_is_over_is_not_loaded(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could replace what the node has appended since. It is fetched again, from the leader."""
    world = QuorumWorld(3, metadata_max_retention_bytes="1")
    leader = world.leader()
    late = next(node for node in world.nodes.values() if node is not leader)
    late.kill()
    world.settle(world.change(leader, 1))
    leader.driver.take_snapshot()
    world.advance(120_000)
    late.start()
    links = late.driver._links
    assert links is not None
    fetcher = links._fetcher
    monkeypatch.setattr(fetcher, "_threads", ChangingThreads(late, fetcher._threads, number))
    loaded: list[int] = []
    asked: list[int] = []
    fetch_snapshot, load_snapshot = fetcher._fetch_snapshot, late.driver.raft.load_snapshot

    async def fetch(peer: Peer, wanted: SnapshotId) -> bool:
        asked.append(late.raft.epoch)
        return await fetch_snapshot(peer, wanted)

    def load(snapshot: Snapshot) -> None:
        loaded.append(late.raft.epoch)
        load_snapshot(snapshot)

    monkeypatch.setattr(fetcher, "_fetch_snapshot", fetch)
    monkeypatch.setattr(late.driver.raft, "load_snapshot", load)
    world.advance(20_000)
    world.agree()
    assert loaded == asked[-1:]
    assert loaded[0] > asked[0]
    assert late.driver.raft.log.start_offset > 0


def test_a_leader_that_leaves_hands_over_at_once() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    epoch = old.raft.epoch
    leaving = spawn(old.driver.leave_quorum())
    began = world.now_ms
    while not any(n.raft.is_leader for n in world.nodes.values() if n is not old):
        world.advance(10)
        assert world.now_ms - began < 1_000, "the others waited for their fetch timeouts"
    world.settle(leaving)
    assert world.leader().raft.epoch > epoch


def test_a_minority_decides_nothing() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    for node in world.nodes.values():
        if node is not leader:
            node.kill()
    world.advance(10_000)
    assert not leader.raft.is_leader
    reply = world.change(leader, 1, timeout_ms=1_000)
    world.advance(2_000)
    assert reply.value.code == ErrorCode.REQUEST_TIMED_OUT


@pytest.mark.parametrize("seed", range(6))
def test_faults_lose_and_change_nothing_that_was_committed(seed: int) -> None:
    """Crashes, cut links and lost messages; the checks stand in QuorumWorld."""
    world = QuorumWorld(3 + seed % 2 * 2, observers=1, seed=seed)
    dice = random.Random(seed)
    world.loss = 0.02
    pending = []
    voters = [node for node in world.nodes.values() if node.config.is_controller]
    for number in range(60):
        node = dice.choice(voters)
        action = dice.randrange(6)
        down = [each for each in voters if not each.up]
        if action == 0 and len(down) < (len(voters) - 1) // 2 and node.up:
            node.kill()
        elif action == 1 and down:
            dice.choice(down).start()
        elif action == 2:
            other = dice.choice(voters)
            world.cut.add((node.node_id, other.node_id))
        elif action == 3:
            world.cut.clear()
        elif node.up:
            pending.append((number, world.change(node, number, timeout_ms=8_000)))
        world.advance(dice.randint(10, 1_500))
    world.cut.clear()
    world.loss = 0.0
    for node in voters:
        if not node.up:
            node.start()
    world.advance(15_000)
    leader = world.leader()
    world.agree()
    promised = [
        number
        for number, reply in pending
        if reply.done and not isinstance(reply.value, KafkaError)
    ]
    assert promised, f"seed {seed}: nothing was decided"
    for number in promised:
        assert world.has(leader, number), f"seed {seed}: change {number} was promised and is lost"


def test_a_vote_that_cannot_be_written_is_not_given() -> None:
    world = QuorumWorld(3)
    old = world.leader()
    voter, other = (node for node in world.nodes.values() if node is not old)

    def fail(name: str, path: str) -> OSError | None:
        return OSError(5, "bad disk", path) if path.endswith("quorum-state.tmp") else None

    voter.files.fail = fail
    epoch = voter.raft.epoch + 1
    vote = ev.VoteRequested(
        other.raft.local.key,
        epoch,
        ev.LogEnd(epoch - 1, 1_000_000),
        pre_vote=False,
        voter=None,
        reply_to=1,
    )
    with pytest.raises(KafkaError) as refused:
        voter.driver.raft.answer(vote)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert len(voter.fatal) == 1
    with pytest.raises(KafkaError):  # not from memory either
        voter.driver.raft.answer(vote)
    assert len(voter.fatal) == 1
