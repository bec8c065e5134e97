"""The coordinator as its clients and the partitions of their transactions see it."""

from __future__ import annotations

import pytest

from pykbroker.coordinator.transaction import ending, transaction
from pykbroker.coordinator.transaction.ending import Ending
from pykbroker.coordinator.transaction.initialising import Initialisation
from pykbroker.coordinator.transaction.shard import Addition
from pykbroker.coordinator.transaction.transaction import MAX_EPOCH, Transaction
from pykbroker.deferred import Deferred
from pykbroker.errors import ErrorCode, KafkaError
from tests.coordinator.transaction.world import ID, A, B, LateSlices, TransactionWorld

CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS
NOT_LEADER = int(ErrorCode.NOT_LEADER_OR_FOLLOWER)


@pytest.mark.parametrize("server_version", [0, 1, 2])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_from_its_beginning_to_its_end(server_version: int, commit: bool) -> None:
    world = TransactionWorld(server_version)
    producer = world.began()
    assert (producer.producer_id, producer.epoch) == (100, 0)
    assert world.add(producer, A, B) == 0
    assert world.state() == "Ongoing"
    reply = world.end(producer, commit)
    assert reply.code == 0
    assert world.state() == ("CompleteCommit" if commit else "CompleteAbort")
    bumped = 1 if server_version == 2 else 0
    assert sorted(world.written) == [(A, 100, bumped, commit), (B, 100, bumped, commit)]
    assert reply.transaction is not None
    assert reply.transaction.epoch == bumped
    assert world.add(reply.transaction, A) == 0
    assert world.state() == "Ongoing"


def test_the_timeout_has_bounds() -> None:
    world = TransactionWorld(max_timeout_ms=1000)
    for timeout_ms in (-1, 0, 1001):
        assert world.initialise(timeout_ms=timeout_ms).code == 50
    assert world.initialise(timeout_ms=1000).code == 0


def test_no_marker_leaves_before_the_outcome_is_committed() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.log.hold_commits = True
    outcome = world.coordinator.end(Ending(ID, producer.producer_id, 0, True, 2))
    world.run(100)
    assert isinstance(outcome, Deferred)
    assert (outcome.done, world.asked) == (False, [])

    world.log.hold_commits = False
    world.run()
    assert outcome.done
    assert [partition for partition, *_ in world.written] == [A]


def test_markers_leave_after_the_replies_and_together() -> None:
    world = TransactionWorld()
    world.put_off = []
    producers = {name: world.began(name) for name in ("one", "two", "three")}
    for name, producer in producers.items():
        world.add(producer, A, name=name)
        assert world.end(producer, name=name).code == 0
    assert (world.asked, len(world.put_off)) == ([], 1)
    world.put_off.pop()()
    assert [(leader, len(markers)) for leader, markers in world.asked] == [(1, 3)]
    assert {world.state(name) for name in producers} == {"CompleteCommit"}
    assert world.end(world.began("one"), commit=False, name="one").code == 0
    assert len(world.put_off) == 1


@pytest.mark.parametrize("server_version", [0, 2])
def test_an_end_that_is_completed_meanwhile_gets_no_second_marker(server_version: int) -> None:
    """Before version 2 it would end the producer's next transaction, which has the same epoch."""
    world = TransactionWorld(server_version, slices=LateSlices())
    producer = world.began()
    world.add(producer, A)
    world.unreachable = {1}
    world.end(producer)
    world.fail_over(6)  # the new one wants to send the markers, and so does its timer
    world.run(10_000)
    world.unreachable = set()
    late = world.slices
    assert isinstance(late, LateSlices)
    for job in [job for name, job in late.jobs if name == "ending transactions"]:
        job()
    markers = [job for name, job in late.jobs if name == "markers"]
    overdue = [job for name, job in late.jobs if name == "overdue transactions"]
    late.jobs.clear()
    overdue[-1]()
    world.run()
    markers += [job for name, job in late.jobs if name == "markers"]
    assert len(markers) >= 2
    markers.pop(0)()
    assert world.state() == "CompleteCommit"
    found = world.settled(world.coordinator.one_transaction(ID))
    assert world.add(found, A) == 0
    written = list(world.written)
    for job in markers:
        job()
    world.run(1000)
    assert world.written == written
    assert world.state() == "Ongoing"


def test_the_next_producer_ends_what_is_open() -> None:
    world = TransactionWorld()
    zombie = world.began()
    world.add(zombie, A)
    assert world.initialise().code == CONCURRENT
    assert world.written == [(A, 100, 1, False)]
    assert world.state() == "CompleteAbort"
    assert world.add(zombie, A) == ErrorCode.PRODUCER_FENCED
    assert world.end(zombie).code == ErrorCode.INVALID_TXN_STATE
    assert world.began().epoch == 2
    assert world.end(zombie).code == ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("server_version", [0, 2])
def test_an_overdue_transaction_is_aborted(server_version: int) -> None:
    world = TransactionWorld(server_version)
    producer = world.initialise(timeout_ms=5000).transaction
    assert producer is not None
    world.add(producer, A)
    world.run(4000)
    assert world.state() == "Ongoing"
    world.run(17_000)
    assert world.state() == "CompleteAbort"
    assert world.written == [(A, 100, 1, False)]
    # By epoch it looks like a repeated commit of what was aborted (version 2).
    fenced = ErrorCode.INVALID_TXN_STATE if server_version == 2 else ErrorCode.PRODUCER_FENCED
    assert world.end(producer).code == fenced
    assert world.settled(world.coordinator.one_transaction(ID)).epoch == 1


def test_markers_are_sent_until_they_are_written() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A, B)
    world.codes = {A: [NOT_LEADER, NOT_LEADER]}
    world.unreachable = {2}
    world.end(producer)
    assert world.state() == "PrepareCommit"
    assert world.add(producer, A) == CONCURRENT
    assert world.initialise().code == CONCURRENT
    world.run(1000)
    assert world.state() == "PrepareCommit"
    assert [partition for partition, *_ in world.written] == [A]
    world.leaders[B] = 1  # it moves
    world.run(100)
    assert world.state() == "CompleteCommit"
    assert len(world.written) == 2


def test_an_end_shows_the_partitions_without_a_marker() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A, B)
    world.unreachable = {1, 2}
    world.end(producer)
    assert world.partitions() == [A, B]
    world.unreachable = {2}
    world.run(100)
    assert (world.state(), world.partitions()) == ("PrepareCommit", [B])
    world.unreachable = set()
    world.run(100)
    assert (world.state(), world.partitions()) == ("CompleteCommit", [])


def test_a_deleted_partition_needs_no_marker() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A, B)
    del world.leaders[B]
    world.end(producer)
    assert world.state() == "CompleteCommit"
    assert [partition for partition, *_ in world.written] == [A]


def test_an_outcome_survives_its_coordinator() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A, B)
    world.unreachable = {2}
    world.end(producer, commit=False)
    world.run(200)
    assert world.state() == "PrepareAbort"
    world.unreachable = set()
    world.fail_over(6)
    assert world.state() == "CompleteAbort"
    assert (B, 100, 1, False) in world.written
    assert {marker.coordinator_epoch for _, markers in world.asked[-1:] for marker in markers} == {
        6
    }


@pytest.mark.parametrize("server_version", [0, 2])
def test_an_outcome_is_completed_in_the_next_epoch_of_the_same_coordinator(
    server_version: int,
) -> None:
    world = TransactionWorld(server_version)
    producer = world.began()
    world.add(producer, A)
    world.hold = []
    world.end(producer)
    for partition in range(2):  # another replica was removed: the leader stays
        world.coordinator.on_elected(partition, 6)
    held, world.hold = world.hold, None
    for deferred, response in held:
        deferred.resolve(response)
    world.run()
    assert world.state() == "CompleteCommit"
    assert [markers[0].coordinator_epoch for _, markers in world.asked] == [5, 6]
    world.coordinator.on_elected(0, 6)
    world.run(11_000)
    assert len(world.asked) == 2


def test_an_open_transaction_goes_on_over_a_fail_over() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.fail_over(6)
    assert world.state() == "Ongoing"
    assert world.add(producer, B) == 0
    assert world.end(producer).code == 0
    assert sorted(partition for partition, *_ in world.written) == [A, B]


def test_another_coordinator_goes_on() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.codes = {A: [int(ErrorCode.TRANSACTION_COORDINATOR_FENCED)]}
    world.end(producer)
    asked = len(world.asked)
    world.run(1000)
    assert len(world.asked) == asked
    assert world.state() == "PrepareCommit"


def test_a_completion_that_the_log_refuses_is_written_later() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.hold = []
    world.end(producer)
    world.log.refuse_with = int(ErrorCode.NOT_ENOUGH_REPLICAS)
    for deferred, response in world.hold:
        deferred.resolve(response)
    assert world.state() == "PrepareCommit"
    world.hold = None
    world.run(200)
    assert world.state() == "CompleteCommit"


def test_what_the_log_refuses_did_not_happen() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.log.refuse_with = int(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert world.add(producer, A) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.state() == "Empty"
    world.log.refuse_with = int(ErrorCode.NOT_ENOUGH_REPLICAS)
    reply = world.initialise(producer_id=producer.producer_id, epoch=0)
    assert reply.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert world.initialise(producer_id=producer.producer_id, epoch=0).transaction is not None


def test_an_outcome_that_is_committed_too_late_for_its_caller_sends_its_markers() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.log.hold_commits = True
    outcome = world.coordinator.end(Ending(ID, producer.producer_id, 0, True, 2))
    world.run(31_000)
    assert isinstance(outcome, Deferred)
    assert outcome.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    world.log.hold_commits = False
    world.run(11_000)
    assert world.state() == "CompleteCommit"
    assert world.written == [(A, 100, 1, True)]


def test_a_late_outcome_sends_its_markers_as_soon_as_it_is_committed() -> None:
    """It does not wait for a moment in which all records of its partition are committed."""
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)
    world.log.hold_commits = True
    world.coordinator.end(Ending(ID, producer.producer_id, 0, True, 2))
    world.run(31_000)
    assert world.written == []
    world.log.commit()
    assert world.written == [(A, 100, 1, True)]


def test_a_producer_id_that_comes_later() -> None:
    world = TransactionWorld()
    world.next_producer_id = waiting = Deferred()
    from pykbroker.coordinator.transaction.initialising import Initialisation

    outcome = world.coordinator.initialise(Initialisation(ID, 1000))
    world.run()
    assert isinstance(outcome, Deferred)
    assert not outcome.done
    waiting.resolve(77)
    world.run()
    assert outcome.value.transaction.producer_id == 77
    world.next_producer_id = refused = Deferred()
    outcome = world.coordinator.initialise(Initialisation("other", 1000))
    refused.resolve(KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    assert isinstance(outcome, Deferred)
    assert outcome.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_epochs_run_out() -> None:
    world = TransactionWorld()
    producer = world.began()
    for _ in range(MAX_EPOCH + 3):
        reply = world.end(producer, commit=False)  # of nothing
        assert reply.code == 0
        assert isinstance(reply.transaction, Transaction)
        assert 0 <= reply.transaction.epoch < MAX_EPOCH
        producer = reply.transaction
    assert (producer.producer_id, producer.epoch) == (101, 3)


def test_the_next_producer_id_is_known_although_records_of_version_0_lack_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client may end transactions by KIP-890 before the cluster has finalised it."""
    for module in (transaction, ending):
        monkeypatch.setattr(module, "MAX_EPOCH", 3)
    world = TransactionWorld(server_version=0)
    producer = world.began()
    for _ in range(4):
        request = Ending(ID, producer.producer_id, producer.epoch, False, client_version=2)
        reply = world.settled(world.coordinator.end(request))  # of nothing
        assert reply.code == 0
        producer = reply.transaction
        found = world.settled(world.coordinator.one_transaction(ID))
        assert (found.producer_id, found.epoch) == (producer.producer_id, producer.epoch)
    assert (producer.producer_id, producer.epoch) == (101, 1)


def test_verifying() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, A)

    def verify(epoch: int = 0, producer_id: int = 100, name: str = ID) -> dict[int, object]:
        request = Addition(name, producer_id, epoch, {A: None, B: None})
        found: dict[int, object] = world.settled(world.coordinator.verify(request))
        return found

    both = {A: None, B: None}
    assert verify() == {0: {A: None}, int(ErrorCode.TRANSACTION_ABORTABLE): {B: None}}
    assert verify(epoch=1) == {int(ErrorCode.PRODUCER_FENCED): both}
    assert verify(producer_id=1) == {int(ErrorCode.INVALID_PRODUCER_ID_MAPPING): both}
    assert verify(name="x") == {int(ErrorCode.INVALID_PRODUCER_ID_MAPPING): both}
    world.coordinator.runtime.on_resigned(world.coordinator.partition_for(ID))
    assert verify() == {int(ErrorCode.NOT_COORDINATOR): both}


def test_unused_ids_are_forgotten() -> None:
    world = TransactionWorld(expiration_ms=100_000, expire_interval_ms=50_000)
    world.began("idle")
    busy = world.initialise("busy", timeout_ms=900_000).transaction
    assert busy is not None
    world.add(busy, A, name="busy")
    world.run(160_000)
    assert world.state("idle") == "TRANSACTIONAL_ID_NOT_FOUND"
    assert world.state("busy") == "Ongoing"
    world.fail_over(6)
    assert world.state("idle") == "TRANSACTIONAL_ID_NOT_FOUND"


def test_unused_ids_are_forgotten_however_busy_their_partition_is() -> None:
    world = TransactionWorld(expiration_ms=120_000, expire_interval_ms=50_000)
    world.began("idle")
    world.run(140_000)
    world.log.hold_commits = True
    world.coordinator.initialise(Initialisation(same_partition(world, "idle"), 60_000))
    world.run(20_000)
    world.log.commit()
    assert world.state("idle") == "TRANSACTIONAL_ID_NOT_FOUND"


def same_partition(world: TransactionWorld, transactional_id: str) -> str:
    """Another id that the same partition coordinates."""
    partition_for = world.coordinator.partition_for
    others = (f"other-{number}" for number in range(100))
    return next(each for each in others if partition_for(each) == partition_for(transactional_id))


def test_listing() -> None:
    world = TransactionWorld()
    for name in ("a", "b", "c"):
        world.began(name)
    found = world.settled(world.coordinator.all_transactions())
    assert sorted(found) == ["a", "b", "c"]


def test_nothing_is_sent_after_a_stop() -> None:
    world = TransactionWorld()
    producer = world.began()
    world.add(producer, B)
    world.unreachable = {2}
    world.end(producer)
    asked = len(world.asked)
    world.coordinator.stop()
    world.run(60_000)
    assert len(world.asked) == asked
