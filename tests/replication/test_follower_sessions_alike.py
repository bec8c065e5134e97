"""Followers' sessions check only dirty partitions; they must respond as if they checked all.

Two brokers live the same random life. The sessions of one never let a partition rest: each fetch
reads them all. Answers, waits, and what the leader knows of its followers must be the same.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from pykbroker.broker.requests.fetch_sessions import FetchSessions
from pykbroker.errors import ErrorCode
from pykbroker.kraft.partition_image import RECOVERED
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from pykbroker.protocol.messages.partition_change_record import PartitionChangeRecord
from pykbroker.replication.follower_session import FollowerSession
from pykbroker.replication.partition import Partition
from pykbroker.replication.partition_events import (
    Event,
    ProposalAccepted,
    ProposalRefused,
    ProposeIsr,
)
from tests.broker.handlers.data_plane import Broker, Call
from tests.broker.handlers.test_fetch import fetch
from tests.replication.node import topic_id_of

PARTITIONS = 4
FOLLOWERS = (2, 3)
STEPS = 120


class RestlessSession(FollowerSession):
    """Reads all of its partitions for every fetch."""

    def _rest(self, *arguments: Any) -> None:
        pass


class Proposals:
    """What leaders propose to the controller, which takes its time."""

    def __init__(self) -> None:
        self.sent: list[tuple[Partition, ProposeIsr]] = []

    def submit(self, partition: Partition, proposal: ProposeIsr) -> None:
        self.sent.append((partition, proposal))

    def follow(self, partition: Partition) -> None:
        pass

    def leave(self, partition: Partition) -> None:
        pass


class Twin:
    """One of the two brokers, with the fetches that wait."""

    def __init__(self, session_class: type[FollowerSession]) -> None:
        self.broker = broker = Broker()
        self.waiting: dict[int, Call] = {}
        self.proposals = Proposals()
        broker.replica_manager.connect(self.proposals, self.proposals)
        for replica_id in FOLLOWERS:
            broker.node.register(replica_id, epoch=10)
        broker.node.create_topic(replicas=(1, *FOLLOWERS), partitions=PARTITIONS)
        woken = broker.replica_manager.watchers.woken
        broker.fetch_sessions = FetchSessions(100, broker._session_id, lambda: session_class(woken))

    def partition(self, number: int) -> Partition | None:
        return self.broker.node.manager.find("t", number)

    def state(self) -> list[Any]:
        """What the leader knows, and which fetches wait."""
        found: list[Any] = [replica for replica, call in self.waiting.items() if call.is_waiting]
        found += sorted((p.index, proposal.isr) for p, proposal in self.proposals.sent)
        for number in range(PARTITIONS):
            p = self.partition(number)
            if p is not None:
                found.append((number, p.is_leader, p.high_watermark, sorted(p.isr.members)))
                found += [
                    (f.replica_id, f.log_end_offset, f.log_start_offset, f.caught_up_ms)
                    for f in p.followers.values()
                ]
        return found

    def take(self, replica_id: int) -> Any:
        """The answer to the follower's last fetch, if there is one: it is in no order."""
        call = self.waiting.get(replica_id)
        if call is None or call.is_waiting:
            return None
        del self.waiting[replica_id]
        response = call.answer
        entries = {
            (topic.topic_id, p.partition_index): (
                p.error_code,
                p.high_watermark,
                p.last_stable_offset,
                p.log_start_offset,
                None if p.diverging_epoch is None else p.diverging_epoch.end_offset,
                bytes(p.records or b""),
            )
            for topic in response.responses
            for p in topic.partitions
        }
        return response.error_code, response.session_id, entries


class Follower:
    """What one follower knows; it does not behave well."""

    def __init__(self, replica_id: int) -> None:
        self.replica_id = replica_id
        self.broker_epoch = 10
        self.session_id = 0
        self.session_epoch = 0
        self.is_asking = False


class Life:
    """The same events for both."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.twins = (Twin(FollowerSession), Twin(RestlessSession))
        self.followers = [Follower(replica_id) for replica_id in FOLLOWERS]
        self.topic_number = 7
        self.leader_epoch = 0

    def step(self) -> None:
        event = self.dice.choices(
            (
                self.fetch,
                self.append,
                self.pass_time,
                self.trim,
                self.change,
                self.register,
                self.answer_proposals,
            ),
            (12, 6, 4, 1, 1, 0.6, 1),
        )[0]
        event()
        self.compare()

    def compare(self) -> None:
        one, other = self.twins
        assert one.state() == other.state()
        for follower in self.followers:
            answer = one.take(follower.replica_id)
            assert answer == other.take(follower.replica_id)
            if answer is not None:
                self._answered(follower, *answer)

    def _answered(self, follower: Follower, code: int, session_id: int, entries: Any) -> None:
        follower.is_asking = False
        if code:
            follower.session_id = follower.session_epoch = 0
        elif session_id:
            follower.session_id = session_id
            follower.session_epoch += 1

    def append(self) -> None:
        number = self.dice.randrange(PARTITIONS)
        for twin in self.twins:
            p = twin.partition(number)
            if p is not None and p.is_leader:
                twin.broker.node.append(p, b"v", acks=1)

    def pass_time(self) -> None:
        passed_ms = self.dice.choice((1, 20, 300, 600, 20_000))
        for twin in self.twins:
            node = twin.broker.node
            node.now_ms += passed_ms
            node.purgatory.advance(node.now_ms)
            node.manager.advance(node.now_ms)

    def trim(self) -> None:
        """Retention, or DeleteRecords."""
        number = self.dice.randrange(PARTITIONS)
        for twin in self.twins:
            p = twin.partition(number)
            if p is not None and p.is_leader:
                p.log.advance_log_start_offset(p.high_watermark)

    def register(self) -> None:
        """A follower's broker is fenced or not, maybe in another life of its."""
        follower = self.dice.choice(self.followers)
        follower.broker_epoch += self.dice.choice((0, 0, 5))
        is_fenced = self.dice.random() < 0.4
        for twin in self.twins:
            twin.broker.node.register(
                follower.replica_id, epoch=follower.broker_epoch, fenced=is_fenced
            )
        follower.broker_epoch -= self.dice.choice((0, 0, 0, 1))  # which it may not know yet

    def answer_proposals(self) -> None:
        """The controller's answers to all that it was asked."""
        is_accepted = self.dice.random() < 0.5
        for twin in self.twins:
            sent, twin.proposals.sent = twin.proposals.sent, []
            for partition, proposal in sent:
                event: Event = ProposalRefused(proposal, ErrorCode.OPERATION_NOT_ATTEMPTED)
                if is_accepted:
                    isr = tuple(replica for replica, _ in proposal.isr)
                    epoch = partition.partition_epoch + 1
                    event = ProposalAccepted(proposal, isr, proposal.leader_epoch, epoch, RECOVERED)
                now_ms = twin.broker.node.now_ms
                twin.broker.replica_manager.step(partition, event, now_ms)

    def change(self) -> None:
        """Another leader, epoch, replicas or ISR; the topic is deleted, or made again."""
        what = self.dice.randrange(6)
        if what == 0 and self.dice.random() < 0.3:
            self._make_topic_anew()
            return
        self.leader_epoch += what < 3
        replicas = [1, *FOLLOWERS] if what != 3 else [1, self.dice.choice(FOLLOWERS)]
        isr = self.dice.sample(replicas[1:], self.dice.randrange(len(replicas)))
        fields: dict[str, Any] = {"replicas": replicas, "isr": [1, *isr]}
        if what < 3:
            fields["leader"] = 1 if what else 2
        number = self.dice.randrange(PARTITIONS)
        for twin in self.twins:
            if twin.partition(number) is not None:
                topic_id = topic_id_of(self.topic_number)
                twin.broker.node.apply(
                    PartitionChangeRecord(topic_id=topic_id, partition_id=number, **fields)
                )

    def _make_topic_anew(self) -> None:
        old = self.topic_number
        self.topic_number += 1
        for twin in self.twins:
            node = twin.broker.node
            node.delete_topic(old)
            node.create_topic(
                replicas=(1, *FOLLOWERS), partitions=PARTITIONS, number=self.topic_number
            )

    def fetch(self) -> None:
        follower = self.dice.choice(self.followers)
        if follower.is_asking:
            return
        follower.is_asking = True
        is_full = follower.session_id == 0 or self.dice.random() < 0.03
        epoch = 0 if is_full else follower.session_epoch
        if is_full:
            follower.session_epoch = 0
        if self.dice.random() < 0.03:
            epoch = -1  # no session, beside the one that there is
        message = FetchRequest(
            replica_state=ReplicaState(
                replica_id=follower.replica_id, replica_epoch=follower.broker_epoch
            ),
            max_wait_ms=self.dice.choice((0, 500)),
            min_bytes=self.dice.choice((1, 1, 1, 150)),
            session_id=0 if epoch < 0 else follower.session_id,
            session_epoch=epoch,
            topics=[FetchTopic(topic_id=topic_id_of(self.topic_number), partitions=self._asked())],
        )
        if not is_full and self.dice.random() < 0.1:
            topic_id = topic_id_of(self.topic_number - self.dice.randrange(2))
            number = self.dice.randrange(PARTITIONS)
            message.forgotten_topics_data = [ForgottenTopic(topic_id=topic_id, partitions=[number])]
        for twin in self.twins:
            twin.waiting[follower.replica_id] = fetch(twin.broker, message)

    def _asked(self) -> list[FetchPartition]:
        count = self.dice.choice((0, 0, 1, PARTITIONS))
        return [self._ask(n) for n in self.dice.sample(range(PARTITIONS), count)]

    def _ask(self, number: int) -> FetchPartition:
        """Mostly as a follower at the leader's end asks."""
        p = self.twins[0].partition(number)
        end = 0 if p is None else p.log.log_end_offset
        epoch = 0 if p is None else p.leader_epoch
        return FetchPartition(
            partition=number,
            fetch_offset=max(0, end + self.dice.choices((0, -1, -3, 1), (12, 2, 1, 1))[0]),
            current_leader_epoch=epoch + self.dice.choices((0, -1, 1), (20, 1, 1))[0],
            last_fetched_epoch=max(-1, epoch - self.dice.choices((0, 1, 5), (6, 1, 1))[0]),
            log_start_offset=self.dice.choices((0, 1), (6, 1))[0],
            partition_max_bytes=1 << 20,
        )


@pytest.mark.parametrize("seed", range(40))
def test_a_dirty_set_answers_as_a_look_at_everything(seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
