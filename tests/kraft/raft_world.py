"""Replicas of a quorum in memory, driven by the commands of `tests/scenarios/raft_*.txt`.

Each replica is a real `Raft` machine with a log of epochs (one record each). A command tells one
replica something and prints every effect; messages between replicas wait until `deliver`.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import deque
from typing import Any, NamedTuple

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
from pykbroker.testing.world.randomness import SeededSource

ELECTION_TIMEOUT_MS = 1000
FETCH_TIMEOUT_MS = 2000


class MiddleOfTheRoad(SeededSource):
    """Random timeouts that are the same in every run: half of what is asked."""

    def randrange(self, start: int, stop: int | None = None) -> int:
        assert stop is None
        return start // 2


def voter(node_id: int, port: int | None = None) -> VoterNode:
    key = ReplicaKey(node_id, bytes(15) + bytes([100 + node_id]))
    return VoterNode(key, (VoterEndpoint("CONTROLLER", "host", port or 9000 + node_id),))


class Replica:
    def __init__(self, node_id: int, voters: list[VoterNode], kraft_version: int) -> None:
        self.node = voter(node_id)
        self.static = VoterSet(voters)
        self.kraft_version = kraft_version
        self.epochs: list[int] = []
        self.fetches = 0
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
            random=MiddleOfTheRoad(random.Random(0)),
        )

    @property
    def end(self) -> LogEnd:
        return LogEnd(self.epochs[-1] if self.epochs else 0, len(self.epochs))


class Fetch(NamedTuple):
    """The request: everything before `end` is on the follower's disk."""

    replica: ReplicaKey
    epoch: int
    end: LogEnd
    number: int


class Fetched(NamedTuple):
    """The response: the epochs of the records from there on, or where the logs part."""

    fetch: Fetch
    epochs: tuple[int, ...]
    high_watermark: int
    diverging: LogEnd | None


def end_of_epoch(epochs: list[int], epoch: int) -> LogEnd:
    """The largest epoch of a log up to `epoch`, and the offset at which it ends."""
    count = bisect_right(epochs, epoch)
    return LogEnd(epochs[count - 1] if count else 0, count)


class RaftWorld:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now_ms = 0
        self.replicas: dict[int, Replica] = {}
        self.post: deque[tuple[int, int, Any]] = deque()
        self.reply_routes: dict[int, tuple[int, Any]] = {}
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
        """A Fetch of `node_id` and its answer, ahead of the messages that wait."""
        self.ask_fetch(node_id, int(leader))
        for _ in ("the request", "the answer"):
            self.take(*self.post.pop())

    def do_deliver(self) -> None:
        """Hand every waiting message over, and what comes of it."""
        while self.post:
            sender, receiver, event = self.post.popleft()
            if not self.lost & {sender, receiver}:
                self.take(sender, receiver, event)

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

    # Fetches: two messages. What both ends do with them, the drivers do (`raft_fetcher_driver.py`).

    def ask_fetch(self, node_id: int, leader_id: int) -> None:
        """A newer fetch takes the place of one that is under way: its answer comes too late."""
        replica = self.replicas[node_id]
        replica.fetches += 1
        fetch = Fetch(replica.node.key, replica.raft.epoch, replica.end, replica.fetches)
        self.post.append((node_id, leader_id, fetch))

    def take(self, sender: int, receiver: int, message: Any) -> None:
        """What arrives."""
        if isinstance(message, Fetch):
            self.post.append((receiver, sender, self.answer_fetch(receiver, message)))
        elif isinstance(message, Fetched):
            self.take_fetched(receiver, sender, message)
        else:
            self.step(receiver, message)

    def answer_fetch(self, leader_id: int, fetch: Fetch) -> Fetched | ev.NewsReceived:
        leader = self.replicas[leader_id]
        raft = leader.raft
        if not raft.is_leader or raft.epoch != fetch.epoch:
            return ev.NewsReceived(raft.epoch, raft.leader_id)
        shared = end_of_epoch(leader.epochs, fetch.end.epoch)
        if fetch.end.offset and (
            shared.epoch != fetch.end.epoch or shared.offset < fetch.end.offset
        ):
            return Fetched(fetch, (), raft.reported_high_watermark, shared)
        self.step(leader_id, ev.FollowerFetched(fetch.replica, fetch.end.offset))
        told = raft.reported_high_watermark
        return Fetched(fetch, tuple(leader.epochs[fetch.end.offset :]), told, None)

    def take_fetched(self, node_id: int, leader_id: int, answer: Fetched) -> None:
        replica = self.replicas[node_id]
        raft = replica.raft
        is_late = replica.fetches != answer.fetch.number or raft.epoch != answer.fetch.epoch
        if is_late or raft.leader_id != leader_id:
            return
        if answer.diverging is None:
            replica.epochs += answer.epochs
            self.step(node_id, ev.Appended(replica.end))
        else:
            mine = end_of_epoch(replica.epochs, answer.diverging.epoch)
            is_shared = mine.epoch == answer.diverging.epoch
            del replica.epochs[
                min(mine.offset, answer.diverging.offset if is_shared else mine.offset) :
            ]
            self.step(node_id, ev.Truncated(replica.end))
        self.step(node_id, ev.LeaderAnswered(leader_id, raft.epoch, answer.high_watermark))

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
        self.reply_routes[route] = (node_id, effect)
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
        to, asked = self.reply_routes[int(str(effect.reply_to))]
        code = ErrorCode(effect.error_code).name
        granted = " granted" if effect.granted else ""
        self.tell(
            node_id, f"reply -> {to} {code} epoch={effect.epoch} leader={effect.leader_id}{granted}"
        )
        epoch, leader_id = effect.epoch, effect.leader_id
        answer: ev.Event
        if isinstance(asked, ev.SendVote):
            answer = ev.VoteAnswered(node_id, epoch, leader_id, effect.granted, asked.pre_vote)
        else:
            answer = ev.NewsReceived(epoch, leader_id)
        self.post.append((node_id, to, answer))

    def tell(self, node_id: int, text: str) -> None:
        self.lines.append(f"{node_id}: {text}")
