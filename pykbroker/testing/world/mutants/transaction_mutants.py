"""Broken rules of transactions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pykbroker.errors import ErrorCode
from pykbroker.testing.world.mutants.mutant import (
    CLUSTER,
    Mutant,
    Patch,
    changing,
    doing_nothing,
    instead,
    returning,
)

READ_COMMITTED = 1


def _not_the_stable_one(original: Any, partition: Any, isolation: int) -> Any:
    return original(partition, 0 if isolation == READ_COMMITTED else isolation)


def _every_marker_commits(marker: Any) -> Any:
    marker.transaction_result = True
    return marker


def _without_the_last_partition(original: Any, sending: Any, *arguments: Any) -> None:
    original(sending, *arguments)
    if len(sending.missing) > 1:
        sending.missing.popitem()


def _only_the_new_ones(original: Any, transaction: Any, added: Any, *more: Any) -> Any:
    step = original(transaction, added, *more)
    step.partitions.clear()
    step.partitions.update(added)
    return step


def _same_epoch(original: Any, transaction: Any, request: Any, now_ms: int) -> Any:
    return transaction.initialised(transaction.epoch, -1, request.timeout_ms, now_ms)


def _first_of_the_list(original: Any, log: Any, *arguments: Any) -> Any:
    return original(log, *arguments)[:1]


def _always_committed(original: Any, store: Any, producer_id: int, committed: bool) -> None:
    original(store, producer_id, True)


def _visible_at_once(original: Any, store: Any, *arguments: Any) -> None:
    original(store, *arguments[:-1], -1)


def _as_if_committed(original: Any, shard: Any, *arguments: Any) -> Any:
    """EndTxn is answered, and its outcome is not in the log."""
    decision = original(shard, *arguments)
    decision.records.clear()
    return decision


def _still_open(original: Any, manager: Any, update: Any) -> Any:
    completed = original(manager, update)
    if completed is not None:
        manager._ongoing[completed.first_offset] = update.entry.producer_id
    return completed


def _nothing_completed(completed: Any) -> None:
    return None


class _OnLastReplicas:
    """An image in which the last replica of each partition leads."""

    def __init__(self, image: Any) -> None:
        self._image = image

    def topic(self, name: str) -> Any:
        topic = self._image.topic(name)
        if topic is None:
            return None
        led = {number: _led_by_last(at) for number, at in topic.partitions.items()}
        return SimpleNamespace(partitions=led)


def _led_by_last(partition: Any) -> Any:
    return partition._replace(leader=partition.replicas[-1])


def _to_the_last(original: Any, driver: Any, sending: Any, partitions: Any) -> None:
    image = driver._image
    driver._image = lambda: _OnLastReplicas(image())
    try:
        original(driver, sending, partitions)
    finally:
        driver._image = image


def _at_once(original: Any, markers: Any) -> None:
    markers.deferred.resolve(None)


TRANSACTION_MUTANTS = (
    Mutant(
        "markers-to-anybody",
        "a marker goes to the leader of its partition",
        (
            Patch(
                "coordinator.transaction.marker_driver:MarkerDriver._queue", instead(_to_the_last)
            ),
        ),
        life=CLUSTER,
    ),
    Mutant(
        "markers-sent-once",
        "a marker that was not written is resent",
        (Patch("coordinator.transaction.marker_driver:MarkerDriver._try_again", doing_nothing),),
        life=CLUSTER,
        seed=16,
    ),
    Mutant(
        "markers-before-commit",
        "a marker counts as written when it is committed",
        (Patch("broker.transactions.transaction_markers:PendingMarkers.start", instead(_at_once)),),
        life=CLUSTER,
        seed=0,
    ),
    Mutant(
        "open-transactions-shown",
        "a read_committed fetch ends at the last stable offset",
        (Patch("replication.partition:Partition.bound", instead(_not_the_stable_one)),),
        seed=40,
    ),
    Mutant(
        "aborted-list-cut-short",
        "a read_committed fetch names every aborted transaction in it",
        (
            Patch(
                "log.partition.partition_log:PartitionLog.aborted_in_slice",
                instead(_first_of_the_list),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "aborts-commit",
        "an aborted transaction gets abort markers",
        (
            Patch(
                "coordinator.transaction.marker_driver:Batch.marker",
                changing(_every_marker_commits),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "one-marker-short",
        "every partition of a transaction gets a marker",
        (
            Patch(
                "coordinator.transaction.marker_driver:Sending.__init__",
                instead(_without_the_last_partition),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "partitions-forgotten",
        "partitions that have joined a transaction stay in it",
        (
            Patch(
                "coordinator.transaction.transaction:Transaction.with_partitions",
                instead(_only_the_new_ones),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "epoch-given-again",
        "every InitProducerId takes the next epoch",
        (Patch("coordinator.transaction.initialising:_with_next_epoch", instead(_same_epoch)),),
        seed=41,
    ),
    Mutant(
        "zombies-join",
        "a replaced producer adds no partitions to a transaction",
        (
            Patch("coordinator.transaction.shard:_check_producer", returning(ErrorCode.NONE)),
            Patch("log.producers.producer_state:ProducerStateManager._fence", doing_nothing),
        ),
        seed=42,
    ),
    Mutant(
        "overdue-for-ever",
        "a transaction that exceeds its timeout is aborted",
        (Patch("coordinator.transaction.shard:TransactionShard.overdue", returning(())),),
        seed=43,
    ),
    Mutant(
        "endings-not-resumed",
        "a coordinator that loads its log sends missing markers",
        (Patch("coordinator.transaction.shard:TransactionShard.ending", returning(())),),
        seed=54,
    ),
    Mutant(
        "outcome-not-written",
        "EndTxn is answered after its outcome is in the log",
        (Patch("coordinator.transaction.shard:TransactionShard._end", instead(_as_if_committed)),),
        seed=40,
    ),
    Mutant(
        "completion-not-written",
        "a transaction is complete when all its markers are written",
        (
            Patch(
                "coordinator.transaction.transaction_coordinator_driver:"
                "TransactionCoordinator._complete",
                doing_nothing,
            ),
        ),
        seed=43,
    ),
    Mutant(
        "stable-offset-stays",
        "a marker advances the last stable offset",
        (Patch("log.producers.producer_state:ProducerStateManager.apply", instead(_still_open)),),
        seed=40,
    ),
    Mutant(
        "aborted-offsets-count",
        "an aborted transaction commits no offsets",
        (
            Patch(
                "coordinator.group.offset_store:OffsetStore.replay_end_of_transaction",
                instead(_always_committed),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "offsets-before-the-end",
        "offsets of a transaction are visible when it has committed",
        (
            Patch(
                "coordinator.group.offset_store:OffsetStore.replay_commit",
                instead(_visible_at_once),
            ),
        ),
        seed=40,
    ),
    Mutant(
        "offsets-without-marker",
        "a transaction's marker reaches the groups whose offsets it commits",
        (
            Patch(
                "coordinator.group.group_coordinator_driver:GroupCoordinator.end_transaction",
                returning(0),
            ),
        ),
        seed=44,
    ),
    Mutant(
        "aborted-index-not-recovered",
        "recovery finds the aborted transactions of the last segment",
        (Patch("log.recovery.segment_recovery:apply_producer", changing(_nothing_completed)),),
        seed=40,
    ),
)
