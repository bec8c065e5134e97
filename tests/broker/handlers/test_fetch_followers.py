"""Fetch from followers: what counts as progress, idle sessions, cold reads of parked fetches."""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.errors import ErrorCode
from pykbroker.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from pykbroker.replication.partition import Partition
from pykbroker.replication.record_deletion import delete_records
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_fetch import entries, fetch, make_cold, only, request, values
from tests.replication.node import topic_id_of
from tests.replication.test_hosting import changed


@pytest.fixture
def broker() -> Broker:
    """Leads partitions 0 and 1 of `t`, in epoch 0, with node 2 as their follower."""
    broker = Broker()
    broker.node.register(2, epoch=10)
    broker.node.create_topic(replicas=(1, 2), partitions=2)
    return broker


def partition_of(broker: Broker, number: int = 0) -> Partition:
    found = broker.node.manager.find("t", number)
    assert found is not None
    return found


def as_follower(broker_epoch: int = 10) -> dict[str, Any]:
    return {"replica_state": ReplicaState(replica_id=2, replica_epoch=broker_epoch)}


def known(offset: int, **fields: Any) -> FetchRequest:
    """A follower's fetch that names its epochs."""
    partition = {"current_leader_epoch": 0, "last_fetched_epoch": 0, "log_start_offset": 0}
    return request(offset, partition=partition, **(as_follower() | fields))


def session_fetch(session_id: int, epoch: int, *offsets: int, **fields: Any) -> FetchRequest:
    """The next fetch of a session; `offsets` of the partitions that moved."""
    topics = [
        FetchTopic(
            topic_id=topic_id_of(7),
            partitions=[
                FetchPartition(
                    partition=number,
                    fetch_offset=offset,
                    current_leader_epoch=0,
                    last_fetched_epoch=0,
                    log_start_offset=0,
                    partition_max_bytes=1 << 20,
                )
            ],
        )
        for number, offset in enumerate(offsets)
    ]
    return FetchRequest(
        session_id=session_id,
        session_epoch=epoch,
        topics=topics,
        min_bytes=1,
        **({"max_wait_ms": 500} | as_follower() | fields),
    )


def test_a_session_at_the_high_watermark_with_more_to_read_does_not_stall(broker: Broker) -> None:
    """The follower has been told everything but the records above the high watermark."""
    partition = partition_of(broker)
    made = fetch(broker, known(0, session_epoch=0)).answer
    broker.node.append(partition, b"a")
    assert partition.high_watermark == 0
    call = fetch(broker, session_fetch(made.session_id, 1))
    assert values(only(call)) == [b"a"]


def test_an_idle_session_counts_as_caught_up(broker: Broker) -> None:
    partition = partition_of(broker)
    made = fetch(broker, known(0, session_epoch=0)).answer
    progress = partition.followers[2]
    broker.node.now_ms += 20_000
    assert fetch(broker, session_fetch(made.session_id, 1)).is_waiting
    assert progress.caught_up_ms == broker.node.now_ms


def test_a_session_learns_of_a_new_high_watermark_and_log_start(broker: Broker) -> None:
    partition = partition_of(broker)
    made = fetch(broker, known(0, session_epoch=0)).answer
    broker.node.append(partition, b"a")
    fetch(broker, session_fetch(made.session_id, 1))
    fetch(broker, session_fetch(made.session_id, 2, 1))
    assert partition.high_watermark == 1
    entry = only(fetch(broker, session_fetch(made.session_id, 3, 1, max_wait_ms=0)))
    assert (entry.high_watermark, entry.log_start_offset) == (1, 0)
    assert entries(fetch(broker, session_fetch(made.session_id, 4, 1, max_wait_ms=0))) == []
    delete_records(partition, 1)
    entry = only(fetch(broker, session_fetch(made.session_id, 5, 1, max_wait_ms=0)))
    assert entry.log_start_offset == 1


def test_a_session_whose_follower_is_no_replica_any_more_is_told_so(broker: Broker) -> None:
    made = fetch(broker, known(0, session_epoch=0)).answer
    broker.node.apply(changed(replicas=[1], isr=[1]))
    entry = only(fetch(broker, session_fetch(made.session_id, 1)))
    assert entry.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


@pytest.mark.parametrize(
    "offset, epochs, code",
    [
        (9, {"current_leader_epoch": 0}, ErrorCode.OFFSET_OUT_OF_RANGE),
        (1, {"current_leader_epoch": 3}, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_fetch_that_fails_is_no_progress(
    broker: Broker, offset: int, epochs: dict[str, int], code: ErrorCode
) -> None:
    partition = partition_of(broker)
    broker.node.append(partition, b"a")
    entry = only(fetch(broker, request(offset, partition=epochs, **as_follower())))
    assert entry.error_code == code
    assert partition.followers[2].log_end_offset == -1
    assert partition.high_watermark == 0


def test_a_diverging_fetch_is_no_progress() -> None:
    """Its offset counts records that the leader does not have."""
    broker = Broker()
    broker.node.register(2, epoch=10)
    partition = broker.node.create_topic(replicas=(1, 2))
    broker.node.append(partition, b"a", b"b", acks=1)
    broker.node.apply(changed(leader=1))  # epoch 1 begins at offset 2
    broker.node.append(partition, b"c", b"d", acks=1)
    epochs = {"current_leader_epoch": 1, "last_fetched_epoch": 0}
    entry = only(fetch(broker, request(4, partition=epochs, **as_follower())))
    assert entry.diverging_epoch is not None
    assert (entry.diverging_epoch.epoch, entry.diverging_epoch.end_offset) == (0, 2)
    assert partition.followers[2].log_end_offset == -1
    assert partition.high_watermark == 0


def test_a_fetch_with_the_epoch_of_an_earlier_life_is_refused(broker: Broker) -> None:
    partition = partition_of(broker)
    broker.node.append(partition, b"a")
    entry = only(fetch(broker, request(1, **as_follower(broker_epoch=9))))
    assert entry.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert partition.high_watermark == 0


def test_a_parked_fetch_that_finds_cold_records_reads_them_in_a_thread(broker: Broker) -> None:
    broker = Broker()
    partition = broker.node.create_topic()
    broker.node.append(partition, b"a")
    call = fetch(broker, request(0, max_wait_ms=500, min_bytes=100_000))
    assert call.is_waiting
    make_cold(broker)
    broker.node.purgatory.advance(broker.node.now_ms + 500)
    assert call.is_waiting
    assert broker.threads.finish() == 1
    assert values(only(call)) == [b"a"]
    assert broker.node.files.may_wait


def test_a_parked_fetch_does_not_wait_for_the_disk_to_count_its_bytes() -> None:
    broker = Broker()
    partition = broker.node.create_topic()
    broker.node.append(partition, b"a", b"b", b"c")
    call = fetch(broker, request(2, max_wait_ms=500, min_bytes=100_000))
    make_cold(broker)
    broker.node.append(partition, b"d")
    assert call.is_waiting
    assert broker.threads.finish() == 1
    assert values(only(call)) == [b"a", b"b", b"c", b"d"]


def test_closing_the_connection_drops_a_cold_parked_fetch(broker: Broker) -> None:
    broker = Broker()
    partition = broker.node.create_topic()
    broker.node.append(partition, b"a")
    call = fetch(broker, request(0, max_wait_ms=500, min_bytes=100_000))
    make_cold(broker)
    broker.node.purgatory.advance(broker.node.now_ms + 500)
    call.request.connection.closed = True
    broker.threads.finish()
    assert call.is_waiting


@pytest.mark.parametrize("is_new_session", [True, False])
def test_a_follower_that_diverged_is_told_the_high_watermark_again(is_new_session: bool) -> None:
    """It has cut its log after the answer that diverged, and took nothing else of it over."""
    broker = Broker()
    broker.node.register(2, epoch=10)
    partition = broker.node.create_topic(replicas=(1, 2), isr=(1,))
    broker.node.append(partition, b"a", b"b", acks=1)
    broker.node.apply(changed(leader=1))
    assert partition.high_watermark == 2
    first = 4
    if not is_new_session:
        known_to_leader = {"current_leader_epoch": 1, "last_fetched_epoch": 0}
        made = fetch(
            broker, request(0, session_epoch=0, partition=known_to_leader, **as_follower())
        ).answer
    diverged = {"current_leader_epoch": 1, "last_fetched_epoch": 0}
    message = request(first, session_epoch=0, partition=diverged, **as_follower())
    if not is_new_session:
        message.session_id, message.session_epoch = made.session_id, 1
    answer = fetch(broker, message).answer
    assert answer.responses[0].partitions[0].diverging_epoch.end_offset == 2
    message = request(
        2, session_id=answer.session_id, partition=diverged, max_wait_ms=0, **as_follower()
    )
    message.session_epoch = 1 if is_new_session else 2
    assert only(fetch(broker, message)).high_watermark == 2


def test_a_follower_in_a_new_epoch_is_told_the_high_watermark_again() -> None:
    """What it was told in the old epoch may have arrived after it left that epoch."""
    broker = Broker()
    broker.node.register(2, epoch=10)
    partition = broker.node.create_topic(replicas=(1, 2), isr=(1,))
    broker.node.append(partition, b"a", acks=1)
    epochs = {"current_leader_epoch": 0, "last_fetched_epoch": 0}
    made = fetch(broker, request(1, session_epoch=0, partition=epochs, **as_follower())).answer
    broker.node.apply(changed(leader=1))
    epochs = {"current_leader_epoch": 1, "last_fetched_epoch": 0}
    message = request(1, partition=epochs, session_id=made.session_id, **as_follower())
    message.session_epoch = 1
    assert only(fetch(broker, message)).high_watermark == 1
