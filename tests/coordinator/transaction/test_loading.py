"""Loading very many transactional ids holds the event loop no longer than loading a few."""

from __future__ import annotations

import heapq

import pytest

from pykbroker.coordinator import loading_driver, shard_loader
from pykbroker.coordinator.batches import decision_batch
from pykbroker.coordinator.decisions import ShardDecision
from pykbroker.coordinator.transaction.records import TransactionRecordCodec, transaction_record
from pykbroker.coordinator.transaction.states import TransactionState
from pykbroker.coordinator.transaction.transaction import Transaction
from tests.coordinator.transaction.world import A, TransactionWorld
from tests.harness.breathing import breathing_slices
from tests.harness.stretches import StepCounter

FEW, MANY = 300, 1200
IN_BATCH = 100
BREATHS = 4
ONE_IN_ENDING = 10
CODEC = TransactionRecordCodec()


def put_in_log(world: TransactionWorld, count: int) -> None:
    """So many ids in partition 0; one in ten has an outcome and no markers yet."""
    records = []
    for number in range(count):
        name = f"id-{number}"
        transaction = Transaction(number, 0, 60_000)
        if number % ONE_IN_ENDING == 0:
            ending = TransactionState.PREPARE_COMMIT
            transaction = Transaction(number, 0, 60_000, state=ending, partitions={A: None})
        records.append(transaction_record(name, transaction, 0))
    for first in range(0, count, IN_BATCH):
        some = records[first : first + IN_BATCH]
        world.log.append(0, decision_batch(CODEC, ShardDecision(), some, 0, 0), 5, 0)
    world.log.end_turn()


def longest_turn(count: int) -> int:
    """The most steps of one turn of the loop, while a coordinator loads so many ids."""
    world = TransactionWorld()
    world.coordinator.stop()
    put_in_log(world, count)
    world.loop._calls.clear()
    slices = world.slices = breathing_slices(world.loop, BREATHS)
    world.run = lambda by_ms=0: None  # type: ignore[method-assign]
    world.start(6)
    longest = 0
    calls = world.loop._calls
    counter = StepCounter()  # the one that the threads of jobs report to
    while calls[0].at_ms <= world.loop.time_ms:
        longest = max(longest, counter.steps_of(heapq.heappop(calls).callback))
        world.log.end_turn()
    assert len(world.coordinator.runtime.machines()[0].transactions) == count
    assert len(world.written) == count / ONE_IN_ENDING
    slices.close()
    return longest


def test_the_longest_turn_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading_driver, "SLICE_MS", 0)
    monkeypatch.setattr(shard_loader, "STEP_RECORDS", 5)
    assert longest_turn(MANY) - longest_turn(FEW) < (MANY - FEW) * 0.9  # about a step for each id
