"""Transactions before and after another node takes over the directory of theirs.

`leave` fills a fresh node with transactions in every state; `arrive` speaks to whatever node runs
on that directory afterwards: it looks at all of them and ends them; `come_back` looks once more.
What each answers is the transcript, as in transaction_script.
"""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages import list_transactions_request
from pykbroker.protocol.messages.write_txn_markers_request import WriteTxnMarkersRequest
from tests.interop.transaction_ends import describe, describe_producers
from tests.interop.transaction_markers import mark, marker
from tests.interop.transaction_partitions import fetch
from tests.interop.transaction_play import TOPICS, Play
from tests.interop.transaction_producer import Producer, fetch_offsets

# Longer than a node needs to stop and less than anybody likes to wait.
OVERDUE_MS = 20_000
DECIDED = {"decided to commit": True, "decided to abort": False}
NAMES = (
    "committed",
    "aborted",
    "goes on",
    "is given up",
    "is fenced",
    "has no partition",
    *DECIDED,
)
GROUP = "a group"

Producers = dict[str, Producer]


def leave(play: Play, made: Producers) -> None:
    """Transactions that are complete, open, decided without markers, and unused ids."""
    play.part = "leaves"
    play.prepare()
    made |= {name: Producer(play, name).init("fresh").init("again") for name in NAMES}
    made["committed"].begin(0, 1)
    made["committed"].end("commit", _end_version(play), True)
    made["aborted"].begin(0, 2)
    made["aborted"].end("abort", _end_version(play), False)
    made["goes on"].begin(0, 1)
    made["goes on"].add_offsets("a group", 3, GROUP)
    made["goes on"].commit_offsets("an offset", 3, GROUP)
    made["is given up"].begin(1, 2)
    made["is fenced"].begin(2, 3)
    for partition, (name, committed) in enumerate(DECIDED.items()):
        _decide(play, made[name], partition, committed)
    describe(play, *NAMES)
    _read(play)
    late = made["is overdue"] = Producer(play, "is overdue").init("fresh", 5, OVERDUE_MS)
    late.begin(0, topic="slow")


def _end_version(play: Play) -> int:
    return play.end_versions[-1] if play.transaction_version == 2 else 4


def _decide(play: Play, producer: Producer, partition: int, committed: bool) -> None:
    """An outcome whose marker the partition refuses from the coordinator of now, but not from the
    next one."""
    later = marker(producer, ("marked", [partition]), coordinator_epoch=1)
    mark(play, "by a later coordinator", 2, later)
    producer.begin(partition, topic="marked")
    producer.end("decides", _end_version(play), committed, waits=False)


def _read(play: Play) -> None:
    """Every record that is there, and every record that is committed."""
    for topic in ("ledger", "marked", "slow"):
        for partition in range(TOPICS[topic]):
            for isolation in (0, 1):
                fetch(play, f"isolation {isolation}", 16, topic, 0, isolation, partition)
            describe_producers(play, topic, partition)


def arrive(play: Play, made: Producers) -> None:
    """Find everything as it was left; end it in every way, and leave two open for the next."""
    play.part = "arrives"
    play.join()
    for name in (*DECIDED, "is overdue"):
        play.settle(name)
    _complete(play, made)
    names = (*NAMES, "is overdue")
    describe(play, *names)
    play.ask("all", "ListTransactions", 1, list_transactions_request.ListTransactionsRequest())
    _read(play)
    fetch_offsets(play, "pending", GROUP, stable=True)
    for producer in made.values():
        producer.play = play
    _end(play, made)
    made["goes on"].begin(0)
    made["is given up"].begin(1)
    describe(play, *names)
    _read(play)


def _complete(play: Play, made: Producers) -> None:
    """Write the markers that a coordinator skipped. Apache's does so when it loads a transaction,
    or aborts an overdue one, before the node has learnt who leads its partitions."""
    for partition, (name, committed) in enumerate(DECIDED.items()):
        _write_skipped(play, made[name], ("marked", partition), transaction_result=committed)
    late = made["is overdue"]
    _write_skipped(play, late, ("slow", 0), producer_epoch=late.epoch + 1)


def _write_skipped(play: Play, producer: Producer, at: tuple[str, int], **given: Any) -> None:
    topic, partition = at
    if not play.is_open(topic, partition):
        return
    play.skipped.append(str(producer.name))
    fields = {"coordinator_epoch": 100, "transaction_result": False, **given}
    if play.transaction_version == 2:
        fields["transaction_version"] = 2
    missing = marker(producer, (topic, [partition]), **fields)
    play.client.ask("WriteTxnMarkers", 2, WriteTxnMarkersRequest(markers=[missing]))
    assert not play.is_open(topic, partition)


def _end(play: Play, made: Producers) -> None:
    version = _end_version(play)
    goes_on = made["goes on"]
    goes_on.produce("goes on", 11)
    goes_on.begin(3)
    goes_on.commit_offsets("another offset", 3, GROUP, [("ledger", 1, 2)])
    goes_on.end("commit", version, True)
    fetch_offsets(play, "committed", GROUP, stable=True)
    made["is given up"].end("abort", version, False)
    successor = Producer(play, "is fenced").init("while it is open")
    play.settle("is fenced")
    successor.init("once it is aborted")
    zombie = made["is fenced"]
    zombie.produce("a zombie", 11, partition=2)
    zombie.add("a zombie", 3, {"ledger": [0]})
    zombie.end("a zombie", version, True)
    successor.begin(3)
    successor.end("commit", version, True)
    made["is fenced"] = successor
    late = made["is overdue"]
    late.end("too late", version, True)
    late.produce("too late", 11, "slow")
    late.init("anew")
    for name in ("committed", "aborted", "has no partition", *DECIDED, "is overdue"):
        made[name].init("goes on with its epoch", 5, **_own(made[name]))
        made[name].begin(1)
        made[name].end("commit", version, True)


def _own(producer: Producer) -> dict[str, int]:
    return {"producer_id": producer.id, "producer_epoch": producer.epoch}


def come_back(play: Play, made: Producers) -> None:
    """Everything is there, and goes on."""
    play.part = "comes back"
    play.join()
    describe(play, *NAMES, "is overdue")
    _read(play)
    for producer in made.values():
        producer.play = play
    made["goes on"].end("commit", _end_version(play), True)
    made["is given up"].end("abort", _end_version(play), False)
    _read(play)
    fetch_offsets(play, "committed", GROUP, stable=True)
