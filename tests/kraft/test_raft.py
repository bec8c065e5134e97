"""Interaction scripts of the quorum: each command of `raft_*.txt` and every effect of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pykbroker.kraft import raft_events as ev
from pykbroker.kraft.raft import Raft
from pykbroker.kraft.raft_events import LogEnd
from pykbroker.kraft.voters import QuorumHistory, ReplicaKey, VoterSet
from tests.harness.scenarios import replayed, scripts
from tests.kraft.raft_world import RaftWorld, voter


@pytest.mark.parametrize("path", scripts("raft", at_least=6), ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    now, expected = replayed(path, RaftWorld())
    assert now == expected


def lone_leader() -> Raft:
    node = voter(1)
    history = QuorumHistory(VoterSet([node]))
    raft = Raft(
        local=node,
        history=history,
        election_timeout_ms=1000,
        fetch_timeout_ms=2000,
        election_backoff_max_ms=1000,
        random=random.Random(1),
    )
    raft.step(ev.Started(None, LogEnd(0, 0)), 0)
    return raft


def test_a_leader_counts_only_what_is_on_disk() -> None:
    raft = lone_leader()
    raft.step(ev.Appended(LogEnd(1, 5)), 0)
    assert raft.high_watermark == -1
    assert raft.step(ev.Flushed(3), 0) == [ev.HighWatermarkMoved(3)]
    assert raft.step(ev.Flushed(3), 0) == []
    assert raft.step(ev.Flushed(5), 0) == [ev.HighWatermarkMoved(5)]


def test_the_high_watermark_never_goes_back() -> None:
    raft = lone_leader()
    raft.step(ev.Flushed(5), 0)
    assert raft.step(ev.Flushed(2), 0) == []
    assert raft.high_watermark == 5


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
