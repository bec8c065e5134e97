"""Replicas of a quorum in memory, driven by the commands of `tests/scenarios/raft_*.txt`.

Each replica is a real `Raft` machine with a log of epochs (one record each). A command tells one
replica something and prints every effect; messages between replicas wait until `deliver`.
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from pykbroker.errors import ErrorCode
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.quorum_state import ElectionState
from pykbroker.kraft.raft.raft import Raft
from pykbroker.kraft.raft.raft_events import LogEnd
from pykbroker.kraft.raft.voters import (
    QuorumHistory,
    ReplicaKey,
    VoterEndpoint,
    VoterNode,
    VoterSet,
)

ELECTION_TIMEOUT_MS = 1000
FETCH_TIMEOUT_MS = 2000


class MiddleOfTheRoad(random.Random):
    """Random timeouts that are the same in every run: half of what is asked."""

    def randrange(self, stop: int) -> int:  # type: ignore[override]
        return stop // 2


def voter(node_id: int, port: int | None = None) -> VoterNode:
    key = ReplicaKey(node_id, bytes(15) + bytes([100 + node_id]))
    return VoterNode(key, (VoterEndpoint("CONTROLLER", "host", port or 9000 + node_id),))


class Replica:
    def __init__(self, node_id: int, voters: list[VoterNode], kraft_version: int) -> None:
        self.node = voter(node_id)
        self.static = VoterSet(voters)
        self.kraft_version = kraft_version
        self.epochs: list[int] = []
        self.saved: ElectionState | None = None
        self.raft: Raft

    def boot(self) -> None:
        history = QuorumHistory(self.static)
        if self.kraft_version:
            history.add_kraft_version(-1, self.kraft_version)
            history.add_voters(-1, self.static)
        self.raft = Raft(
            local=self.node,
            history=history,
            election_timeout_ms=ELECTION_TIMEOUT_MS,
            fetch_timeout_ms=FETCH_TIMEOUT_MS,
            election_backoff_max_ms=ELECTION_TIMEOUT_MS,
            random=MiddleOfTheRoad(),
        )

    @property
    def end(self) -> LogEnd:
        return LogEnd(self.epochs[-1] if self.epochs else 0, len(self.epochs))


class RaftWorld:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now_ms = 0
        self.replicas: dict[int, Replica] = {}
        self.post: deque[tuple[int, int, Any]] = deque()
        self.reply_routes: dict[int, tuple[int, bool]] = {}
        self.lost: set[int] = set()

    def run(self, command: str) -> None:
        name, *words = command.split()
        options = dict(word.split("=") for word in words if "=" in word)
        ids = [int(word) for word in words if "=" not in word]
        getattr(self, f"do_{name}")(*ids, **options)

    # Commands.

    def do_quorum(self, *ids: int, kraft: str = "1") -> None:
        voters = [voter(node_id) for node_id in ids]
        self.replicas = {node_id: Replica(node_id, voters, int(kraft)) for node_id in ids}

    def do_observer(self, node_id: int) -> None:
        voters = [voter(other) for other in self.replicas]
        self.replicas[node_id] = Replica(node_id, voters, 1)

    def do_start(self, node_id: int) -> None:
        replica = self.replicas[node_id]
        replica.boot()
        self.step(node_id, ev.Started(replica.saved, replica.end))

    def do_tick(self, node_id: int) -> None:
        """Let time pass up to the replica's deadline."""
        deadline = self.replicas[node_id].raft.next_deadline_ms()
        if deadline is None:
            self.lines.append(f"{node_id}: no deadline")
            return
        self.now_ms = max(self.now_ms, deadline)
        self.lines.append(f"{node_id}: at {self.now_ms} ms")
        self.step(node_id, ev.Tick())

    def do_append(self, node_id: int, count: str = "1") -> None:
        replica = self.replicas[node_id]
        replica.epochs += [replica.raft.epoch] * int(count)
        self.step(node_id, ev.Appended(replica.end))

    def do_flush(self, node_id: int) -> None:
        self.step(node_id, ev.Flushed(len(self.replicas[node_id].epochs)))

    def do_fetch(self, node_id: int, leader: str) -> None:
        """A Fetch of `node_id` from `leader`: its offset goes there, records come back."""
        follower, source = self.replicas[node_id], self.replicas[int(leader)]
        agreed = 0
        for mine, theirs in zip(follower.epochs, source.epochs, strict=False):
            if mine != theirs:
                break
            agreed += 1
        if agreed < len(follower.epochs):
            del follower.epochs[agreed:]
            self.step(node_id, ev.Truncated(follower.end))
        self.step(int(leader), ev.FollowerFetched(follower.node.key, agreed))
        follower.epochs[:] = source.epochs
        self.step(node_id, ev.Appended(follower.end))
        raft = source.raft
        answer = ev.LeaderAnswered(int(leader), raft.epoch, raft.high_watermark)
        self.step(node_id, answer)

    def do_deliver(self) -> None:
        """Hand every waiting message over, and what comes of it."""
        while self.post:
            sender, receiver, event = self.post.popleft()
            if self.lost & {sender, receiver}:
                continue
            self.step(receiver, event)

    def do_cut(self, node_id: int) -> None:
        self.lost.add(node_id)

    def do_mend(self, node_id: int) -> None:
        self.lost.discard(node_id)

    def do_resign(self, node_id: int) -> None:
        self.step(node_id, ev.Resign())

    def do_state(self, node_id: int) -> None:
        raft = self.replicas[node_id].raft
        self.lines.append(
            f"{node_id}: {type(raft.role).__name__} epoch={raft.epoch} leader={raft.leader_id} "
            f"high_watermark={raft.high_watermark} deadline={raft.next_deadline_ms()}"
        )

    # Effects.

    def step(self, node_id: int, event: Any) -> None:
        for effect in self.replicas[node_id].raft.step(event, self.now_ms):
            self.carry_out(node_id, effect)
        self.check(node_id)

    def check(self, node_id: int) -> None:
        """What must hold after every event."""
        leaders = [
            (replica.raft.epoch, other)
            for other, replica in self.replicas.items()
            if hasattr(replica, "raft") and replica.raft.is_leader
        ]
        assert len({epoch for epoch, _ in leaders}) == len(leaders), "two leaders in an epoch"

    def carry_out(self, node_id: int, effect: Any) -> None:
        replica = self.replicas[node_id]
        if isinstance(effect, ev.SaveElection):
            replica.saved = effect.election
            epoch, leader, voted = effect.election
            by = "-" if voted is None else voted.id
            self.tell(node_id, f"save epoch={epoch} leader={leader} voted={by}")
        elif isinstance(effect, ev.AppendControl):
            names = [type(message).__name__ for message in effect.messages]
            self.tell(node_id, f"append epoch={effect.epoch} {' '.join(names)}")
            replica.epochs += [effect.epoch] * len(names)
            self.step(node_id, ev.Appended(replica.end))
        elif isinstance(effect, ev.LeaderChanged):
            self.tell(node_id, f"leader {effect.leader_id} in epoch {effect.epoch}")
        elif isinstance(effect, ev.HighWatermarkMoved):
            self.tell(node_id, f"high watermark {effect.offset}")
        elif isinstance(effect, ev.Reply):
            self.reply(node_id, effect)
        else:
            self.send(node_id, effect)

    def send(self, node_id: int, effect: Any) -> None:
        me = self.replicas[node_id].node.key
        route = len(self.reply_routes)
        is_pre_vote = isinstance(effect, ev.SendVote) and effect.pre_vote
        self.reply_routes[route] = (node_id, is_pre_vote)
        event: Any
        if isinstance(effect, ev.SendVote):
            kind = "pre-vote" if effect.pre_vote else "vote"
            self.tell(node_id, f"{kind} -> {effect.voter.id} epoch={effect.epoch}")
            event = ev.VoteRequested(
                me, effect.epoch, effect.log_end, effect.pre_vote, effect.voter, route
            )
        elif isinstance(effect, ev.SendBeginEpoch):
            self.tell(node_id, f"begin epoch -> {effect.voter.id} epoch={effect.epoch}")
            event = ev.BeginEpochRequested(node_id, effect.epoch, route)
        else:
            successors = ",".join(str(key.id) for key in effect.preferred_successors)
            self.tell(node_id, f"end epoch -> {effect.voter.id} successors={successors}")
            event = ev.EndEpochRequested(node_id, effect.epoch, effect.preferred_successors, route)
        self.post.append((node_id, effect.voter.id, event))

    def reply(self, node_id: int, effect: ev.Reply) -> None:
        to, was_pre_vote = self.reply_routes[int(str(effect.reply_to))]
        code = ErrorCode(effect.error_code).name
        granted = " granted" if effect.granted else ""
        self.tell(
            node_id, f"reply -> {to} {code} epoch={effect.epoch} leader={effect.leader_id}{granted}"
        )
        answer = ev.VoteAnswered(
            node_id, effect.epoch, effect.leader_id, effect.granted, was_pre_vote
        )
        self.post.append((node_id, to, answer))

    def tell(self, node_id: int, text: str) -> None:
        self.lines.append(f"{node_id}: {text}")
