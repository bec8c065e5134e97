"""One follower node against a leader that the test plays: each answer and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.protocol.messages.fetch_request import FetchRequest
from pykbroker.protocol.messages.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from pykbroker.protocol.messages.list_offsets_request import ListOffsetsRequest
from pykbroker.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykbroker.protocol.primitives import Message
from pykbroker.replication import follower_log
from pykbroker.replication.fetch_plan import FetchLimits
from pykbroker.replication.fetcher import LOG_STARTS_EVERY_MS, FetcherWorld
from pykbroker.replication.fetcher_driver import FetcherDriver
from pykbroker.replication.partition import Partition
from pykbroker.types import Peer
from tests.harness.records import partition_record
from tests.kraft.node_world import ManualScheduler
from tests.replication.node import Node, batch, topic_id_of
from tests.replication.test_follower_log import sent
from tests.replication.test_hosting import changed

BACKOFF_MS = 200
TIMEOUT_MS = 30_000
LIMITS = FetchLimits(
    wait_max_ms=500, min_bytes=1, response_max_bytes=1000, max_bytes=100, backoff_ms=BACKOFF_MS
)


class Follower:
    """Node 2 follows node 1 in two partitions of `t`, in epoch 0."""

    def __init__(self, fetchers: int = 1, partitions: int = 2) -> None:
        self.node = Node(node_id=2)
        self.scheduler = ManualScheduler(self.node.now_ms, self.node.files)
        self.sent: list[tuple[str, Peer, Any, Deferred]] = []
        self.peers = {n: Peer(n, "127.0.0.1", 9000 + n) for n in (1, 3)}
        self.progress = 0
        world = FetcherWorld(
            manager=self.node.manager,
            scheduler=self.scheduler,
            now_ms=lambda: self.scheduler.now_ms,
            peer_of=self.peers.get,
            broker_epoch=lambda: 77,
            on_progress=self._on_progress,
            limits=LIMITS,
            request_timeout_ms=TIMEOUT_MS,
        )
        self.driver = FetcherDriver(world, self._connect, fetchers)
        self.node.manager.connect(self, self.driver)
        self.node.create_topic(replicas=(2, 1, 3), leader=1, partitions=partitions)
        self.scheduler.advance(0)

    def _on_progress(self) -> None:
        self.progress += 1

    def submit(self, partition: Partition, proposal: object) -> None:
        raise AssertionError("a follower changes no ISR")

    def _connect(self, purpose: str) -> Any:
        def send(peer: Peer, message: Message, deadline_ms: int) -> Deferred:
            assert deadline_ms == self.scheduler.now_ms + TIMEOUT_MS
            answer = Deferred()
            self.sent.append((purpose, peer, message, answer))
            return answer

        return send

    def partition(self, number: int = 0) -> Partition:
        found = self.node.manager.find("t", number)
        assert found is not None
        return found

    def fetch(self) -> tuple[FetchRequest, Deferred]:
        """The one request that waits for its answer."""
        (found,) = [
            (message, answer)
            for _, _, message, answer in self.sent
            if isinstance(message, FetchRequest) and not answer.done
        ]
        return found

    def look_up(self) -> tuple[ListOffsetsRequest, Deferred]:
        """The ListOffsets that waits for its answer."""
        (found,) = [
            (message, answer)
            for _, _, message, answer in self.sent
            if isinstance(message, ListOffsetsRequest) and not answer.done
        ]
        return found

    def answer(self, *entries: PartitionData) -> None:
        """Answer the last fetch; the partitions of a full one that are not given are empty."""
        message, answer = self.fetch()
        found = {entry.partition_index: entry for entry in entries}
        if message.session_epoch == 0:
            for number, _ in asked(message):
                found.setdefault(number, sent(high_watermark=0))
                found[number].partition_index = number
        topic = FetchableTopicResponse(topic_id=topic_id_of(7), partitions=list(found.values()))
        answer.resolve(FetchResponse(session_id=9, responses=[topic]))

    def offsets(self, message: ListOffsetsRequest, offset: int, code: int = 0) -> Any:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=p.partition_index, offset=offset, error_code=code
                        )
                        for p in topic.partitions
                    ],
                )
                for topic in message.topics
            ]
        )


def asked(message: FetchRequest) -> list[tuple[int, int]]:
    return [(p.partition, p.fetch_offset) for topic in message.topics for p in topic.partitions]


def forgotten(message: FetchRequest) -> list[int]:
    return [number for topic in message.forgotten_topics_data for number in topic.partitions]


def entry_of(number: int, *batches: tuple[int, int, int], **fields: Any) -> PartitionData:
    entry = sent(*batches, **({"high_watermark": 0} | fields))
    entry.partition_index = number
    return entry


def error(number: int, code: ErrorCode) -> PartitionData:
    return entry_of(number, error_code=int(code), high_watermark=-1, log_start_offset=-1)


def test_partitions_of_one_image_are_asked_for_together() -> None:
    follower = Follower()
    assert len(follower.sent) == 1
    message, _ = follower.fetch()
    assert asked(message) == [(0, 0), (1, 0)]
    assert message.replica_state is not None
    assert message.replica_state.replica_epoch == 77
    assert follower.sent[0][1] == follower.peers[1]


def test_what_is_sent_is_appended_and_the_next_fetch_continues() -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 3), high_watermark=2))
    partition = follower.partition()
    assert (partition.log.log_end_offset, partition.high_watermark) == (3, 2)
    assert follower.progress == 1
    message, _ = follower.fetch()
    assert asked(message) == [(0, 3)]
    assert message.topics[0].partitions[0].last_fetched_epoch == 0


def test_a_diverging_epoch_cuts_the_log() -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 3), high_watermark=1))
    entry = entry_of(0, high_watermark=9)
    entry.diverging_epoch = EpochEndOffset(epoch=0, end_offset=2)
    follower.answer(entry)
    partition = follower.partition()
    assert (partition.log.log_end_offset, partition.high_watermark) == (2, 1)
    assert asked(follower.fetch()[0]) == [(0, 2)]


def test_a_damaged_batch_is_fetched_again_later_and_holds_up_no_other() -> None:
    follower = Follower()
    damaged = entry_of(0, (0, 0, 1))
    damaged.records[-1] ^= 1  # type: ignore[index]
    follower.answer(damaged, entry_of(1, (0, 0, 1)))
    message, _ = follower.fetch()
    assert (asked(message), forgotten(message)) == ([(1, 1)], [0])
    follower.scheduler.advance(BACKOFF_MS)
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 0)]


@pytest.mark.parametrize(
    "entry",
    [entry_of(0, (0, 0, 2), (1, 0, 1)), error(0, ErrorCode.FENCED_LEADER_EPOCH)],
    ids=["batches that overlap", "fenced"],
)
def test_a_partition_is_set_aside_until_the_metadata_names_another_epoch(
    entry: PartitionData,
) -> None:
    follower = Follower()
    follower.answer(entry, entry_of(1, (0, 0, 1)))
    message, _ = follower.fetch()
    assert (asked(message), forgotten(message)) == ([(1, 1)], [0])
    follower.scheduler.advance(10 * BACKOFF_MS)
    follower.answer()
    assert asked(follower.fetch()[0]) == []
    follower.node.apply(changed(leader=1))
    follower.answer()
    message, _ = follower.fetch()
    assert asked(message) == [(0, follower.partition().log.log_end_offset)]
    assert message.topics[0].partitions[0].current_leader_epoch == 1


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
)
def test_any_other_error_is_tried_again_after_the_back_off(code: ErrorCode) -> None:
    follower = Follower()
    follower.answer(error(0, code))
    message, _ = follower.fetch()
    assert forgotten(message) == [0]
    follower.scheduler.advance(BACKOFF_MS)
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 0)]


def test_a_lost_connection_is_tried_again_with_a_full_fetch() -> None:
    follower = Follower()
    follower.answer()
    follower.fetch()[1].resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
    assert len(follower.sent) == 2
    follower.scheduler.advance(BACKOFF_MS)
    message, _ = follower.fetch()
    assert (message.session_id, message.session_epoch) == (9, 0)
    assert asked(message) == [(0, 0), (1, 0)]


def test_a_leader_that_is_not_known_yet_is_looked_for_again() -> None:
    follower = Follower()
    del follower.peers[1]
    follower.fetch()[1].resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
    follower.scheduler.advance(3 * BACKOFF_MS)
    assert len(follower.sent) == 1
    follower.peers[1] = Peer(1, "127.0.0.1", 9099)
    follower.scheduler.advance(BACKOFF_MS)
    assert follower.sent[-1][1] == follower.peers[1]


def out_of_range(leader_end: int) -> Follower:
    """Partition 0 ends at 3 and is out of range; the leader says where its log ends."""
    follower = Follower(partitions=1)
    follower.answer(entry_of(0, (0, 0, 1), (1, 0, 1), (2, 0, 1), high_watermark=1))
    follower.answer(error(0, ErrorCode.OFFSET_OUT_OF_RANGE))
    message, answer = follower.look_up()
    assert message.topics[0].partitions[0].timestamp == -1
    answer.resolve(follower.offsets(message, leader_end))
    return follower


def test_out_of_range_above_the_leaders_end_cuts_there() -> None:
    follower = out_of_range(2)
    assert follower.partition().log.log_end_offset == 2
    follower.answer()  # to the fetch that took the partition out
    assert asked(follower.fetch()[0]) == [(0, 2)]


def test_out_of_range_below_the_leaders_start_begins_anew() -> None:
    follower = out_of_range(20)
    message, answer = follower.look_up()
    assert message.topics[0].partitions[0].timestamp == -2
    answer.resolve(follower.offsets(message, 12))
    partition = follower.partition()
    assert (partition.log.log_start_offset, partition.log.log_end_offset) == (12, 12)
    assert partition.high_watermark == 12
    follower.answer()
    fetch, _ = follower.fetch()
    assert asked(fetch) == [(0, 12)]
    assert fetch.topics[0].partitions[0].last_fetched_epoch == -1


def test_out_of_range_and_in_range_by_now_just_continues() -> None:
    follower = out_of_range(20)
    message, answer = follower.look_up()
    answer.resolve(follower.offsets(message, 1))
    assert follower.partition().log.log_end_offset == 3
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 3)]


@pytest.mark.parametrize("failure", [KafkaError(ErrorCode.NETWORK_EXCEPTION), None])
def test_a_look_up_that_fails_is_tried_again(failure: KafkaError | None) -> None:
    follower = Follower(partitions=1)
    follower.answer(error(0, ErrorCode.OFFSET_OUT_OF_RANGE))
    message, answer = follower.look_up()
    code = int(ErrorCode.UNKNOWN_LEADER_EPOCH)
    answer.resolve(failure or follower.offsets(message, -1, code))
    follower.scheduler.advance(BACKOFF_MS)
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 0)]


def test_a_look_up_that_is_answered_after_an_election_is_dropped() -> None:
    follower = Follower(partitions=1)
    follower.answer(entry_of(0, (0, 0, 1), (1, 0, 1)))
    follower.answer(error(0, ErrorCode.OFFSET_OUT_OF_RANGE))
    message, answer = follower.look_up()
    follower.node.apply(changed(leader=3))
    answer.resolve(follower.offsets(message, 0))
    assert follower.partition().log.log_end_offset == 2


def test_a_new_leader_is_fetched_by_another_fetcher_and_the_old_answer_dropped() -> None:
    follower = Follower(partitions=1)
    _, late = follower.fetch()
    follower.node.apply(changed(leader=3))
    follower.scheduler.advance(0)
    assert follower.sent[-1][1] == follower.peers[3]
    topic = FetchableTopicResponse(topic_id=topic_id_of(7), partitions=[entry_of(0, (0, 0, 1))])
    late.resolve(FetchResponse(session_id=9, responses=[topic]))
    assert follower.partition().log.log_end_offset == 0
    assert len(follower.sent) == 2


def test_a_leader_follows_nobody_and_a_lost_leader_neither() -> None:
    for leader in (2, -1):
        follower = Follower(partitions=1)
        follower.node.apply(changed(leader=leader))
        _, late = follower.fetch()
        late.resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
        follower.scheduler.advance(10 * BACKOFF_MS)
        assert len(follower.sent) == 1


def test_a_deleted_topic_is_fetched_no_more() -> None:
    follower = Follower()
    follower.node.delete_topic()
    follower.fetch()[1].resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))
    follower.scheduler.advance(10 * BACKOFF_MS)
    assert len(follower.sent) == 1


def test_a_broken_disk_takes_the_partitions_out_of_the_fetch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    follower = Follower()
    follower.node.fail_writes()
    follower.answer(entry_of(0, (0, 0, 1)), entry_of(1, (0, 0, 1)))
    assert caplog.text.count("all log directories have failed") == 1
    assert not follower.partition(0).hosted
    assert not follower.partition(1).hosted
    follower.scheduler.advance(10 * BACKOFF_MS)
    assert len(follower.sent) == 1


def test_the_leader_hears_of_a_log_start_that_retention_moved() -> None:
    follower = Follower(partitions=1)
    follower.answer(entry_of(0, (0, 0, 1), (1, 0, 1), high_watermark=2))
    follower.answer()
    follower.partition().log.advance_log_start_offset(1)
    follower.scheduler.advance(LOG_STARTS_EVERY_MS)
    follower.answer()
    message, _ = follower.fetch()
    assert message.topics[0].partitions[0].log_start_offset == 1


def test_what_a_leader_appended_in_the_turn_it_lost_its_role_is_in_its_log() -> None:
    follower = Follower(partitions=1)
    follower.node.apply(changed(leader=2))
    partition = follower.partition()
    follower.node.manager.append(partition, batch(b"v"), 1, follower.node.now_ms)
    follower.node.apply(changed(leader=3))
    assert partition.log.log_end_offset == 1
    follower.fetch()[1].resolve(KafkaError(ErrorCode.NETWORK_EXCEPTION))  # the first leader's
    follower.scheduler.advance(0)
    assert asked(follower.fetch()[0]) == [(0, 1)]


def test_several_fetchers_share_the_partitions_each_with_a_connection() -> None:
    follower = Follower(fetchers=2, partitions=4)
    found = sorted((purpose, asked(message)) for purpose, _, message, _ in follower.sent)
    assert found == [
        ("fetcher-0", [(1, 0), (3, 0)]),
        ("fetcher-1", [(0, 0), (2, 0)]),
    ]


def test_closed_it_asks_for_nothing_more() -> None:
    follower = Follower()
    follower.driver.close()
    follower.answer(entry_of(0, (0, 0, 1)))
    follower.scheduler.advance(10 * BACKOFF_MS)
    assert len(follower.sent) == 1
    assert follower.partition().log.log_end_offset == 0
    follower.driver.follow(follower.partition())
    follower.scheduler.advance(10 * BACKOFF_MS)
    assert len(follower.sent) == 1


def test_a_log_with_a_hole_is_fetched_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 2), (2, 0, 1)))
    monkeypatch.setattr(follower_log, "first_hole", lambda log: 2)
    follower.driver.follow(follower.partition())
    assert follower.partition().log.log_end_offset == 2
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 2)]


def test_a_log_that_cannot_be_searched_for_a_hole_is_fetched_from_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 2)))

    def damaged(log: object) -> int:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "a damaged segment")

    monkeypatch.setattr(follower_log, "first_hole", damaged)
    follower.driver.follow(follower.partition())
    assert "was not searched for a gap: a damaged segment" in caplog.text
    follower.answer(entry_of(0, (2, 0, 1)))
    assert asked(follower.fetch()[0]) == [(0, 3)]


def test_a_log_that_cannot_be_cut_at_its_hole_is_not_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    follower = Follower()
    follower.answer()
    monkeypatch.setattr(follower_log, "cut_at_hole", lambda *arguments: False)
    follower.driver.follow(follower.partition())
    follower.answer()
    forgotten = follower.fetch()[0].forgotten_topics_data
    assert [topic.partitions for topic in forgotten] == [[0]]


def test_a_log_that_cannot_be_cut_first_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 2)))
    follower.answer()

    def damaged(*arguments: object) -> None:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE)

    with monkeypatch.context() as patched:
        patched.setattr(follower_log, "latest_epoch", lambda partition: None)
        patched.setattr(follower_log, "truncate", damaged)
        follower.driver.follow(follower.partition())
        follower.answer()
        follower.scheduler.advance(10 * BACKOFF_MS)
        follower.answer()
    assert asked(follower.fetch()[0]) == []
    follower.driver.follow(follower.partition())  # as for another leader or epoch
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 2)]


def test_a_log_that_cannot_be_cut_where_it_diverges_is_set_aside(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    follower = Follower()
    follower.answer(entry_of(0, (0, 0, 2)))

    def damaged(*arguments: object) -> None:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "a damaged segment")

    with monkeypatch.context() as patched:
        patched.setattr(follower_log, "truncate", damaged)
        entry = entry_of(0)
        entry.diverging_epoch = EpochEndOffset(epoch=0, end_offset=1)
        follower.answer(entry)
    assert "cannot be truncated: a damaged segment" in caplog.text
    follower.scheduler.advance(10 * BACKOFF_MS)
    follower.answer()
    assert asked(follower.fetch()[0]) == []
    follower.driver.follow(follower.partition())  # as for another leader or epoch
    follower.answer()
    assert asked(follower.fetch()[0]) == [(0, 2)]


def test_a_partition_made_later_joins_the_session() -> None:
    follower = Follower(partitions=1)
    follower.answer()
    follower.node.apply(partition_record(topic_id_of(7), 1, replicas=[2, 1], isr=[2, 1], leader=1))
    follower.answer()
    message, _ = follower.fetch()
    assert (asked(message), message.session_epoch) == ([(1, 0)], 2)
