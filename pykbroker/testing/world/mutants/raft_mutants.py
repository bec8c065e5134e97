"""Broken rules of raft and of the controller's failover: lives of three voters show them."""

from __future__ import annotations

from typing import Any

from pykbroker.kraft.raft.quorum_state import QUORUM_STATE_FILE, encode_quorum_state
from pykbroker.testing.world.mutants.mutant import (
    QUORUM,
    Mutant,
    Patch,
    doing_nothing,
    instead,
)


def _forgets_its_vote(original: Any, raft: Any, candidate: Any, now_ms: int) -> None:
    """The vote is granted and not noted: another candidate may have it, too."""


def _votes_for_short_logs(
    original: Any, role: Any, candidate: Any, up_to_date: bool, *, pre_vote: bool
) -> Any:
    return original(role, candidate, True, pre_vote=pre_vote)


def _what_the_leader_has(original: Any, raft: Any) -> None:
    """Committed is what the leader has on its disk."""
    from pykbroker.kraft.raft import raft_events as ev

    if raft.is_leader and raft.flushed_offset > raft.high_watermark:
        raft.high_watermark = raft.flushed_offset
        raft.effects.append(ev.HighWatermarkMoved(raft.flushed_offset))


def _what_one_voter_more_has(original: Any, raft: Any) -> None:
    """Committed is what the furthest voter has fetched, or the leader has on its disk."""
    from pykbroker.kraft.raft import raft_events as ev

    role = raft.role
    if not raft.is_leader:
        return
    offset = max((progress.end_offset for progress in role.progress.values()), default=-1)
    offset = max(offset, raft.flushed_offset)
    if offset > raft.high_watermark:
        raft.high_watermark = offset
        raft.effects.append(ev.HighWatermarkMoved(offset))


def _leader_for_ever(original: Any, driver: Any, is_me: bool, epoch: int) -> None:
    """A controller that lost its leadership goes on with what it has replayed."""
    if is_me and driver.controller is None:
        original(driver, is_me, epoch)


def _one(voters: Any) -> int:
    return 1


def _all_that_it_knows(raft: Any) -> Any:
    return raft.high_watermark


def _without_asking(original: Any, raft: Any, now_ms: int) -> None:
    raft.become_candidate(now_ms)


def _only_in_the_page_cache(
    original: Any, log: Any, election: Any, kraft_version: int, voter_ids: list[int]
) -> None:
    path, files = f"{log.directory}/{QUORUM_STATE_FILE}", log.files
    files.write_file(f"{path}.tmp", encode_quorum_state(election, kraft_version, voter_ids))
    files.rename(f"{path}.tmp", path)


RAFT_MUTANTS = (
    Mutant(
        "stands-without-asking",
        "a voter wins a pre-vote before it becomes a candidate",
        (Patch("kraft.raft.raft_state:RaftState.become_prospective", instead(_without_asking)),),
        life=QUORUM,
    ),
    Mutant(
        "vote-not-saved",
        "a vote is on disk before the reply is sent",
        (Patch("kraft.metadata_log:MetadataLog.write_election", doing_nothing),),
        life=QUORUM,
        seed=3,
    ),
    Mutant(
        "vote-not-synced",
        "a vote outlives a power failure",
        (Patch("kraft.metadata_log:MetadataLog.write_election", instead(_only_in_the_page_cache)),),
        life=QUORUM,
    ),
    Mutant(
        "elected-by-a-minority",
        "a leader has the votes of a majority",
        (Patch("kraft.raft.voters:VoterSet.majority", lambda original: property(_one)),),
        life=QUORUM,
        seed=3,
    ),
    Mutant(
        "votes-twice",
        "a voter has one vote in an epoch",
        (Patch("kraft.raft.raft_elections:record_vote", instead(_forgets_its_vote)),),
        life=QUORUM,
        seed=62,
    ),
    Mutant(
        "votes-for-short-logs",
        "a voter votes only for a log at least as up to date as its own",
        (Patch("kraft.raft.raft_elections:grants_vote", instead(_votes_for_short_logs)),),
        life=QUORUM,
        seed=13,
    ),
    Mutant(
        "committed-by-the-leader-alone",
        "metadata is committed when a majority has it on disk",
        (Patch("kraft.raft.raft_leading:advance_high_watermark", instead(_what_the_leader_has)),),
        life=QUORUM,
        seed=35,
    ),
    Mutant(
        "committed-by-the-furthest-voter",
        "the high watermark is an offset that a majority has reached",
        (
            Patch(
                "kraft.raft.raft_leading:advance_high_watermark", instead(_what_one_voter_more_has)
            ),
        ),
        life=QUORUM,
        seed=25,
    ),
    Mutant(
        "high-watermark-of-another-epoch",
        "a new leader reports no high watermark before it has committed a record",
        (
            Patch(
                "kraft.raft.raft_state:RaftState.reported_high_watermark",
                lambda original: property(_all_that_it_knows),
            ),
        ),
        life=QUORUM,
        seed=127,
    ),
    Mutant(
        "follower-of-the-quorum-is-not-cut",
        "a voter truncates what its leader does not have",
        (Patch("kraft.raft.raft_driver:RaftDriver.truncate", doing_nothing),),
        life=QUORUM,
        seed=35,
    ),
    Mutant(
        "controller-is-not-built-anew",
        "a new controller starts from the committed metadata",
        (Patch("kraft.controller_driver:ControllerDriver.on_leader", instead(_leader_for_ever)),),
        life=QUORUM,
        seed=142,
    ),
)
