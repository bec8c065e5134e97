"""Which answers to vote requests count: those to what this node last asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.kraft.raft import raft_events as ev
from pykbroker.kraft.raft.raft_messenger_driver import RaftMessenger
from pykbroker.kraft.raft.raft_roles import Candidate, Leader, Prospective, Role, Unattached
from pykbroker.kraft.topic_name import CLUSTER_METADATA_TOPIC
from pykbroker.protocol.messages import vote_response
from pykbroker.protocol.messages.vote_request import VoteRequest
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.kraft.node_world import ManualScheduler
from tests.kraft.raft_world import Replica, voter


class _Asker:
    """Voter 1 of three: its machine, and the vote requests that it sends."""

    def __init__(self, *, pre_votes: bool = True) -> None:
        replica = Replica(1, [voter(node_id) for node_id in (1, 2, 3)], 1)
        replica.boot()
        self.raft = replica.raft
        self.pre_votes = pre_votes
        self.sent: list[tuple[int, VoteRequest, Deferred]] = []
        self.late: list[ev.SendVote] | None = None  # a list: the log is not on disk yet
        self.scheduler = ManualScheduler(0, MemoryFiles())
        scheduler: Any = self.scheduler
        peers: Any = SimpleNamespace(
            find=lambda node_id: node_id, reachable=lambda node_id: node_id, learn=lambda *_: None
        )
        self.messenger = RaftMessenger(
            raft=self.raft,
            peers=peers,
            cluster_id="cluster",
            send=self._send,
            step=self.step,
            scheduler=scheduler,
            now_ms=lambda: self.now_ms,
            request_timeout_ms=1_000,
            retry_backoff_ms=10,
        )
        self.step(ev.Started(None, ev.LogEnd(0, 0)))

    @property
    def now_ms(self) -> int:
        return self.scheduler.now_ms

    def role(self) -> Role:
        return self.raft.role

    def _send(self, peer: Any, message: Any, deadline_ms: int) -> Deferred:
        answer = Deferred()
        if message.topics[0].partitions[0].pre_vote and not self.pre_votes:
            answer.resolve(KafkaError(ErrorCode.UNSUPPORTED_VERSION))
        else:
            self.sent.append((peer, message, answer))
        return answer

    def step(self, event: ev.Event) -> None:
        for effect in self.raft.step(event, self.now_ms):
            if not isinstance(effect, ev.SendVote):
                continue
            if self.late is None:
                self.messenger.send_vote(effect)
            else:
                self.late.append(effect)

    def wait(self) -> list[tuple[int, VoteRequest, Deferred]]:
        """Let time pass up to the machine's deadline; returns what is sent then."""
        before = len(self.sent)
        deadline_ms = self.raft.next_deadline_ms()
        assert deadline_ms is not None
        self.scheduler.advance(max(deadline_ms - self.now_ms, 0))
        self.step(ev.Tick())
        return self.sent[before:]


def _vote(*, epoch: int, granted: bool) -> vote_response.VoteResponse:
    partition = vote_response.PartitionData(
        partition_index=0, leader_id=-1, leader_epoch=epoch, vote_granted=granted
    )
    topic = vote_response.TopicData(topic_name=CLUSTER_METADATA_TOPIC, partitions=[partition])
    return vote_response.VoteResponse(topics=[topic])


def test_an_answer_to_an_earlier_pre_vote_does_not_count_in_the_next() -> None:
    asker = _Asker()
    first = asker.wait()
    assert [peer for peer, _, _ in first] == [2, 3]
    asker.wait()
    assert isinstance(asker.role(), Unattached)  # no voter has answered
    second = asker.wait()
    role = asker.role()
    assert isinstance(role, Prospective)
    assert asker.raft.epoch == 0
    for _, _, answer in first:
        answer.resolve(_vote(epoch=0, granted=True))
    assert asker.role() is role
    assert role.granted == {1}
    second[0][2].resolve(_vote(epoch=0, granted=True))
    assert isinstance(asker.role(), Candidate)


def test_an_answer_to_the_pre_vote_does_not_count_in_the_vote() -> None:
    asker = _Asker()
    to_2, to_3 = asker.wait()
    to_2[2].resolve(_vote(epoch=0, granted=True))
    role = asker.role()
    assert isinstance(role, Candidate)
    assert asker.raft.epoch == 1
    to_3[2].resolve(_vote(epoch=1, granted=False))  # of a voter that has seen the epoch since
    assert (role.granted, role.rejected) == ({1}, set())


def test_the_answers_of_voters_that_know_no_pre_votes_count() -> None:
    asker = _Asker(pre_votes=False)
    votes = asker.wait()
    assert isinstance(asker.role(), Candidate)
    assert [peer for peer, _, _ in votes] == [2, 3]
    votes[1][2].resolve(_vote(epoch=1, granted=True))
    assert isinstance(asker.role(), Leader)


def test_voters_that_know_no_pre_votes_are_asked_again_if_they_do_not_answer() -> None:
    asker = _Asker(pre_votes=False)
    for _, _, answer in asker.wait():
        answer.resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
    asker.scheduler.advance(10)
    assert [peer for peer, _, _ in asker.sent] == [2, 3, 2, 3]


def test_a_vote_is_not_asked_for_once_its_election_has_ended() -> None:
    asker = _Asker()
    asker.late = []
    asker.wait()
    assert len(asker.late) == 2
    asker.step(ev.NewsReceived(7, -1))
    for effect in asker.late:
        asker.messenger.send_vote(effect)
    assert asker.sent == []
