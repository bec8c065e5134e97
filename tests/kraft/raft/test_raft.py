"""Interaction scripts of the quorum: each command of `raft_*.txt` and every effect of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.raft.raft_following import successor_backoff_ms
from pykbroker.kraft.raft.raft_roles import (
    Candidate,
    Leader,
    Prospective,
    Unattached,
)
from pykbroker.kraft.raft.voters import QuorumHistory, ReplicaKey, VoterSet
from pykbroker.testing.world.randomness import SeededSource
from tests.harness.scenarios import replayed, scripts
from tests.kraft.raft_world import RaftWorld, voter


@pytest.mark.parametrize("path", scripts("raft", at_least=8), ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    now, expected = replayed(path, RaftWorld())
    assert now == expected


def replica(*others: int) -> Raft:
    """Node 1 in a quorum with `others`, started without a log."""
    node = voter(1)
    raft = Raft(
        local=node,
        history=QuorumHistory(VoterSet([node, *map(voter, others)])),
        election_timeout_ms=1000,
        fetch_timeout_ms=2000,
        election_backoff_max_ms=1000,
        random=SeededSource(random.Random(1)),
    )
    raft.step(ev.Started(None, LogEnd(0, 0)), 0)
    return raft


def lone_leader() -> Raft:
    return replica()


def candidate() -> Raft:
    """Node 1 of three, which stands for election in epoch 1."""
    raft = replica(2, 3)
    raft.step(ev.Tick(), 2000)
    raft.step(ev.VoteAnswered(2, 0, -1, granted=True, pre_vote=True), 2000)
    assert isinstance(raft.role, Candidate)
    return raft


def leader_of_three() -> Raft:
    raft = candidate()
    raft.step(ev.VoteAnswered(2, 1, -1, granted=True, pre_vote=False), 2000)
    raft.step(ev.Appended(LogEnd(1, 1)), 2000)
    assert raft.is_leader
    return raft


def test_a_leader_counts_only_what_is_on_disk() -> None:
    raft = lone_leader()
    raft.step(ev.Appended(LogEnd(1, 5)), 0)
    assert raft.high_watermark == -1
    assert raft.step(ev.Flushed(3), 0) == [ev.HighWatermarkMoved(3)]
    assert raft.step(ev.Flushed(3), 0) == []
    assert raft.step(ev.Flushed(5), 0) == [ev.HighWatermarkMoved(5)]


def test_a_voter_that_has_lost_its_log_is_not_counted_any_more() -> None:
    raft = leader_of_three()
    raft.step(ev.FollowerFetched(voter(2).key, 1), 2000)
    raft.step(ev.FollowerFetched(voter(2).key, 0), 2000)
    assert raft.step(ev.Flushed(1), 2000) == []
    assert raft.step(ev.FollowerFetched(voter(2).key, 1), 2000) == [ev.HighWatermarkMoved(1)]


def test_a_second_node_with_the_leaders_id_does_not_count_as_a_voter() -> None:
    raft = leader_of_three()
    assert isinstance(raft.role, Leader)
    deadline_ms = raft.role.check_quorum_deadline_ms
    raft.step(ev.FollowerFetched(voter(1).key, 1), 3000)
    raft.step(ev.FollowerFetchedSnapshot(voter(1).key), 3000)
    assert raft.role.check_quorum_deadline_ms == deadline_ms
    raft.step(ev.FollowerFetched(voter(2).key, 1), 3000)
    assert raft.role.check_quorum_deadline_ms == deadline_ms + 1000


def test_a_candidate_that_was_not_elected_votes_for_no_other_in_its_epoch() -> None:
    raft = candidate()
    raft.step(ev.Tick(), 4000)
    assert isinstance(raft.role, Prospective)
    request = ev.VoteRequested(voter(3).key, 1, LogEnd(0, 0), False, None, "r")
    assert raft.step(request, 4000) == [ev.Reply("r", 0, 1, -1, granted=False)]
    raft.step(ev.NewsReceived(1, 3), 4000)
    assert raft.election() == ElectionState(1, 3, voter(1).key)


def test_a_new_leader_tells_no_high_watermark_of_an_earlier_epoch() -> None:
    raft = replica(2, 3)
    raft.step(ev.NewsReceived(1, 2), 0)
    raft.step(ev.Appended(LogEnd(1, 3)), 0)
    raft.step(ev.LeaderAnswered(2, 1, 2), 0)
    raft.step(ev.Tick(), 2000)
    raft.step(ev.VoteAnswered(3, 1, 2, granted=True, pre_vote=True), 2000)
    raft.step(ev.VoteAnswered(3, 2, -1, granted=True, pre_vote=False), 2000)
    assert raft.is_leader
    raft.step(ev.Appended(LogEnd(2, 4)), 2000)
    raft.step(ev.Flushed(4), 2000)
    raft.step(ev.FollowerFetched(voter(3).key, 3), 2000)
    # The former leader may have told voter 3 that everything below 3 is committed.
    assert (raft.high_watermark, raft.reported_high_watermark) == (2, -1)
    raft.step(ev.FollowerFetched(voter(3).key, 4), 2000)
    assert (raft.high_watermark, raft.reported_high_watermark) == (4, 4)


def test_the_high_watermark_never_goes_back() -> None:
    raft = lone_leader()
    raft.step(ev.Flushed(5), 0)
    assert raft.step(ev.Flushed(2), 0) == []
    assert raft.high_watermark == 5


def test_a_replica_that_keeps_up_with_a_growing_log_is_caught_up() -> None:
    raft = lone_leader()
    observer = ReplicaKey(7)
    for now_ms, end_offset, fetched in ((10, 5, 5), (20, 9, 5), (30, 12, 9), (40, 20, 11)):
        raft.step(ev.Appended(LogEnd(1, end_offset)), now_ms)
        raft.step(ev.FollowerFetched(observer, fetched), now_ms)
    assert isinstance(raft.role, Leader)
    progress = raft.role.observers[observer]
    # At 40 it has not fetched all that there was at 30; at 30 it had what there was at 20.
    assert (progress.last_caught_up_ms, progress.last_fetch_ms) == (20, 40)


def test_a_vote_meant_for_another_directory_is_refused() -> None:
    raft = lone_leader()
    stranger = ReplicaKey(1, bytes(15) + b"\xff")
    request = ev.VoteRequested(ReplicaKey(2), 7, LogEnd(3, 9), False, stranger, "r")
    effects = raft.step(request, 0)
    replies = [effect for effect in effects if isinstance(effect, ev.Reply)]
    assert [reply.error_code for reply in replies] == [125]  # INVALID_VOTER_KEY


@pytest.mark.parametrize("pre_vote", [False, True])
def test_a_vote_with_an_impossible_log_is_refused(pre_vote: bool) -> None:
    raft = lone_leader()
    request = ev.VoteRequested(ReplicaKey(2), 4, LogEnd(5, 9), pre_vote, None, "r")
    (reply,) = raft.step(request, 0)
    assert isinstance(reply, ev.Reply)
    assert (reply.error_code, reply.granted) == (42, False)  # INVALID_REQUEST


@pytest.mark.parametrize(
    ("place", "count", "backoff_ms"),
    [(0, 3, 0), (1, 3, 250), (2, 3, 500), (3, 3, 1000), (0, 1, 0), (1, 2, 500), (0, 0, 0)],
)
def test_successors_of_a_leader_stand_one_after_the_other(
    place: int, count: int, backoff_ms: int
) -> None:
    successors = tuple(voter(node_id).key for node_id in range(1, count + 1))
    assert successor_backoff_ms(successors, voter(place + 1).key, 1000) == backoff_ms


def test_observers_that_fell_silent_are_forgotten() -> None:
    raft = lone_leader()
    raft.step(ev.FollowerFetched(ReplicaKey(7), 0), 0)
    raft.step(ev.FollowerFetched(ReplicaKey(8), 0), 200_000)
    assert isinstance(raft.role, Leader)
    assert [key.id for key in raft.role.observers] == [7, 8]
    raft.step(ev.FollowerFetched(ReplicaKey(8), 0), 300_001)
    assert [key.id for key in raft.role.observers] == [8]
    raft.step(ev.FollowerFetched(ReplicaKey(-1), 0), 300_001)
    assert [key.id for key in raft.role.observers] == [8]


def test_a_loaded_snapshot_is_committed_and_on_disk() -> None:
    raft = lone_leader()
    raft.step(ev.SnapshotLoaded(LogEnd(9, 100)), 0)
    assert (raft.log_end, raft.flushed_offset, raft.high_watermark) == (LogEnd(9, 100), 100, 100)


def test_an_unknown_event_is_a_bug_and_deposes_nobody() -> None:
    raft = lone_leader()
    with pytest.raises(AssertionError):
        raft.step("something", 0)  # type: ignore[arg-type]
    assert raft.is_leader


@pytest.mark.parametrize(
    "saved, epoch", [(ElectionState(4, 1), 5), (ElectionState(4, -1, None), 4)]
)
def test_a_voter_no_more_looks_for_the_leader(saved: ElectionState, epoch: int) -> None:
    """It was the leader, or stood for election, and was made an observer while it was stopped."""
    if saved.leader_id < 0:
        saved = saved._replace(voted=voter(1).key)
    raft = Raft(
        local=voter(1),
        history=QuorumHistory(VoterSet([voter(2), voter(3), voter(4)])),
        election_timeout_ms=1000,
        fetch_timeout_ms=2000,
        election_backoff_max_ms=1000,
        random=SeededSource(random.Random(1)),
    )
    raft.step(ev.Started(saved, LogEnd(4, 9)), 0)
    assert type(raft.role) is Unattached
    assert (raft.epoch, raft.leader_id) == (epoch, -1)
    raft.step(ev.NewsReceived(6, 3), 0)
    assert (raft.epoch, raft.leader_id) == (6, 3)
