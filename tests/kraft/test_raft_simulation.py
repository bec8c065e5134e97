"""Three and five voters, lost messages, cut links, killed replicas: what raft promises holds.

Each seed is one history; a failure names it. Invariants, checked after every event:
one leader in an epoch; the epoch and the high watermark of a replica never go back; what was
committed once is in the log of every later leader, at the same offset and of the same epoch.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_roles import Leader
from tests.kraft.raft_world import RaftWorld


class Simulation(RaftWorld):
    def __init__(self, seed: int, voters: int) -> None:
        super().__init__()
        self.dice = random.Random(seed)
        self.committed: list[int] = []  # epochs of the committed records, by offset
        self.commit_epoch = 0
        self.leaders: dict[int, int] = {}
        self.seen: dict[int, tuple[int, int]] = {}
        self.flushed: dict[int, int] = {}
        self.do_quorum(*range(1, voters + 1))
        for node_id in self.replicas:
            self.do_start(node_id)

    def check(self, node_id: int) -> None:
        raft = self.replicas[node_id].raft
        epoch, high_watermark = self.seen.get(node_id, (-1, -1))
        assert raft.epoch >= epoch
        assert raft.high_watermark >= high_watermark
        self.seen[node_id] = (raft.epoch, raft.high_watermark)
        if isinstance(raft.role, Leader):
            assert self.leaders.setdefault(raft.epoch, node_id) == node_id, "two leaders"
            log = self.replicas[node_id].epochs
            if raft.epoch >= self.commit_epoch:
                assert log[: len(self.committed)] == self.committed, "a committed record is lost"
            if raft.high_watermark > len(self.committed):
                self.committed = log[: raft.high_watermark]
                self.commit_epoch = raft.epoch

    def send(self, node_id: int, effect: Any) -> None:
        if isinstance(effect, ev.SendVote):  # as the effect says: on disk before it goes out
            self.flushed[node_id] = len(self.replicas[node_id].epochs)
        super().send(node_id, effect)

    # One step of the world.

    def turn(self) -> None:
        node_id = self.dice.choice(list(self.replicas))
        action = self.dice.choices(
            ("deliver", "tick", "append", "flush", "fetch", "cut", "mend", "kill"),
            (60, 6, 8, 14, 30, 1, 6, 1),
        )[0]
        if action == "deliver":
            self.deliver_one()
        elif action == "tick":
            self.let_time_pass(node_id)
        elif action == "append":
            if self.replicas[node_id].raft.is_leader:
                self.do_append(node_id)
        elif action == "flush":
            self.flush(node_id)
        elif action == "fetch":
            self.fetch(node_id)
        elif action == "cut":
            if len(self.lost) <= (len(self.replicas) - 1) // 2:
                self.do_cut(node_id)
        elif action == "mend":
            self.lost.clear()
        else:
            self.kill(node_id)

    def deliver_one(self) -> None:
        if not self.post:
            return
        index = self.dice.randrange(len(self.post))
        sender, receiver, event = self.post[index]
        del self.post[index]
        if not self.lost & {sender, receiver} and self.dice.random() > 0.05:
            self.take(sender, receiver, event)

    def let_time_pass(self, node_id: int) -> None:
        deadline = self.replicas[node_id].raft.next_deadline_ms()
        if deadline is not None:
            self.now_ms = max(self.now_ms, deadline)
            self.step(node_id, ev.Tick())

    def flush(self, node_id: int) -> None:
        self.flushed[node_id] = len(self.replicas[node_id].epochs)
        self.do_flush(node_id)

    def fetch(self, node_id: int) -> None:
        """A follower asks its leader; what it has it flushes first, as Kafka does."""
        leader_id = self.replicas[node_id].raft.leader_id
        if leader_id in self.replicas and leader_id != node_id:
            self.flush(node_id)
            self.ask_fetch(node_id, leader_id)

    def kill(self, node_id: int) -> None:
        """What was not synced is gone; the replica starts again from its file."""
        replica = self.replicas[node_id]
        replica.fetches += 1  # what it asked for comes to nobody
        del replica.epochs[self.flushed.get(node_id, 0) :]
        self.seen.pop(node_id, None)
        self.do_start(node_id)


@pytest.mark.parametrize("voters", [1, 3, 5])
@pytest.mark.parametrize("seed", range(12))
def test_what_raft_promises(seed: int, voters: int) -> None:
    simulation = Simulation(seed, voters)
    for _ in range(1500 * voters):
        simulation.turn()
    assert simulation.committed


def test_the_histories_commit_something() -> None:
    committed = []
    for seed in range(6):
        simulation = Simulation(seed, 3)
        for _ in range(1500):
            simulation.turn()
        committed.append(len(simulation.committed))
    assert max(committed) > 20
