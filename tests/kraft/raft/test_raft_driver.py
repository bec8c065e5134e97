"""The driver of the quorum: order of commits, one fsync at a time, faults."""

from __future__ import annotations

import pytest

from pykbroker.decision import MetadataRecord
from pykbroker.environment.files import LogDirFailure
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.metadata_batches import MAX_RECORDS_PER_BATCH
from pykbroker.kraft.metadata_log import decode_fetched
from pykbroker.kraft.metadata_record_codec import encode_metadata_record
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_driver import RaftDriver
from pykbroker.kraft.raft.raft_messenger_driver import RaftMessenger
from pykbroker.protocol.messages.config_record import ConfigRecord
from pykbroker.protocol.messages.no_op_record import NoOpRecord
from pykbroker.protocol.record_batch import build_batch
from tests.kraft.node_world import NodeWorld
from tests.kraft.quorum_world import QuorumWorld

NO_OP = MetadataRecord(NoOpRecord())


def test_a_decision_that_is_not_atomic_is_cut_into_batches() -> None:
    world = NodeWorld().open()
    raft = world.node.raft
    many = [NO_OP] * (MAX_RECORDS_PER_BATCH + 5)
    assert [len(chunk) for chunk in raft.prepare(many, atomic=False).chunks] == [
        MAX_RECORDS_PER_BATCH,
        5,
    ]
    assert len(raft.prepare(many, atomic=True).chunks) == 1


def test_a_batch_that_is_too_large_is_refused() -> None:
    world = NodeWorld().open()
    large = ConfigRecord(resource_type=2, resource_name="t", name="x", value="v" * 30_000)
    many = [MetadataRecord(large)] * 300
    with pytest.raises(KafkaError) as refused:
        world.node.raft.prepare(many, atomic=True)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION


def test_a_replica_that_does_not_lead_appends_nothing() -> None:
    world = NodeWorld().open()
    world.node.raft.resign()
    with pytest.raises(KafkaError) as refused:
        world.node.raft.prepare([NO_OP], atomic=True)
    assert refused.value.code == ErrorCode.NOT_CONTROLLER


def test_nothing_is_committed_before_its_fsync_ends() -> None:
    world = NodeWorld(inline=False).open()
    raft = world.node.raft
    before = raft.high_watermark
    for _ in range(3):
        raft.append(raft.prepare([NO_OP], atomic=True))
        assert raft.high_watermark == before
    assert len(world.scheduler.jobs) == 1
    job, synced = world.scheduler.jobs.pop()
    job()
    synced.resolve(None)
    assert raft.high_watermark == before + 1
    assert len(world.scheduler.jobs) == 1
    world.scheduler.run_jobs()
    assert raft.high_watermark == before + 3


def test_a_listener_that_fails_stops_the_node() -> None:
    world = NodeWorld().open()

    class Broken:
        def apply(self, delta: object, image: object) -> None:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError):
        world.node.publish_to([Broken()])
    world.node._loader._publishers.append(Broken())
    world.create("t")
    assert [str(failure) for failure in world.fatal] == ["a bug"]


def test_a_failed_write_stops_the_node_and_answers_the_caller() -> None:
    world = NodeWorld().open()

    def fail(name: str, path: str) -> OSError | None:
        return OSError(28, "full") if name == "write" and path.endswith(".log") else None

    world.files.fail = fail
    reply = world.create("t")
    assert isinstance(reply.value, KafkaError)
    assert len(world.fatal) == 1


def test_a_disk_that_fails_before_the_next_fsync_stops_the_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = NodeWorld(inline=False).open()
    failure = LogDirFailure("/disk", "flushing", OSError(28, "full"))

    def fail() -> None:
        raise failure

    world.create("t")
    monkeypatch.setattr(world.node.raft.log, "prepare_flush", fail)
    world.create("u")  # while the first one is synced
    assert world.fatal == []
    world.scheduler.run_jobs()
    assert world.fatal == [failure]


def test_an_fsync_from_before_a_truncation_makes_nothing_durable_that_came_after_it() -> None:
    world = NodeWorld(inline=False).open()
    raft = world.node.raft
    committed = raft.high_watermark
    raft.append(raft.prepare([NO_OP], atomic=True))
    job, synced = world.scheduler.jobs.pop()
    job()  # its end is told later
    raft.truncate(raft.raft.epoch, committed)
    raft.append_from_leader(decode_fetched(next_batch(raft, raft.raft.epoch), raft.raft.epoch))
    durable = raft.flushed()
    synced.resolve(None)
    assert (raft.log.log.recovery_point, raft.raft.flushed_offset) == (committed, committed)
    assert not durable.done
    world.scheduler.run_jobs()
    assert (raft.log.log.recovery_point, raft.raft.flushed_offset) == (committed + 1,) * 2
    assert durable.done


def test_after_stop_the_end_of_an_fsync_changes_nothing() -> None:
    world = NodeWorld(inline=False).open()
    reply = world.create("t")
    world.node.raft.stop()
    world.scheduler.run_jobs()
    assert not reply.done


def next_batch(raft: RaftDriver, epoch: int) -> bytes:
    """One record as the leader of `epoch` would send it next."""
    values = [(None, encode_metadata_record(NO_OP), 0, ())]
    return bytes(build_batch(values, base_offset=raft.log.log.next_offset, leader_epoch=epoch))


def test_a_batch_of_a_later_epoch_is_not_from_the_leader() -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    raft = next(node for node in world.nodes.values() if node is not leader).driver.raft
    end = raft.log.log.next_offset
    raft.append_from_leader(decode_fetched(next_batch(raft, raft.raft.epoch + 1), raft.raft.epoch))
    assert raft.log.log.next_offset == end
    raft.append_from_leader(decode_fetched(next_batch(raft, raft.raft.epoch), raft.raft.epoch))
    assert raft.log.log.next_offset == end + 1


def test_votes_are_asked_for_when_the_log_is_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    world = QuorumWorld(3)
    leader = world.leader()
    raft = next(node for node in world.nodes.values() if node is not leader).driver.raft
    asked: list[ev.SendVote] = []
    monkeypatch.setattr(RaftMessenger, "send_vote", lambda _, vote: asked.append(vote))
    raft.append_from_leader(decode_fetched(next_batch(raft, raft.raft.epoch), raft.raft.epoch))
    successors = (raft.raft.local.key,)
    raft.answer(ev.EndEpochRequested(leader.node_id, raft.raft.epoch, successors, 1))
    assert asked == []
    world.scheduler.advance(10)  # an fsync takes up to 8 ms here
    assert {vote.voter.id for vote in asked} == world.nodes.keys() - {raft.raft.local.key.id}
