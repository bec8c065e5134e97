"""The part of transaction_script about partitions in transactions: added, written, marked, read."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages import (
    add_partitions_to_txn_request,
    fetch_request,
    list_offsets_request,
)
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import IMPLICIT, Producer, Topics

WHOLE: tuple[tuple[str, Topics], ...] = (
    ("one", {"ledger": [0]}),
    ("the same again", {"ledger": [0]}),
    ("more", {"ledger": [0, 1, 2], "mixed": [0]}),
    ("none", {}),
    ("a topic without partitions", {"ledger": []}),
    ("an unknown topic", {"ledger": [0], "missing": [0, 1]}),
    ("an unknown partition", {"ledger": [0, 9]}),
    ("a wrong name", {"ledger": [0], "no such/name": [0]}),
    ("an internal topic", {"__consumer_offsets": [0]}),
)


def add_partitions(play: Play) -> None:
    """Every version; from 4 on other brokers ask, for several transactions."""
    play.part = "added"
    for version in play.add_versions:
        producer = Producer(play, f"adds v{version}").init("fresh").init("again")
        for label, topics in WHOLE:
            producer.add(label, version, topics)
        one: Topics = {"ledger": [0]}
        producer.add("an older epoch", version, one, epoch=producer.epoch - 1)
        producer.add("a later epoch", version, one, epoch=producer.epoch + 1)
        producer.add("another producer id", version, one, id=424242)
        producer.add("an unknown id", version, one, name="stranger")
        producer.add("an empty id", version, one, name="")
        producer.end("an end", 4, True)
        producer.add("a second transaction", version, one)
        producer.end("a second end", 4, False)
        if version >= 4:
            _add_batched(play, version)
    for version in (4, 5):
        _verify(play, version)


def _verify(play: Play, version: int) -> None:
    producer = Producer(play, f"verified v{version}").init("fresh").init("again")
    one: Topics = {"ledger": [0]}
    producer.add("verify before", version, one, verify_only=True)
    producer.add("add", 3, one)
    producer.add("verify", version, one, verify_only=True)
    producer.add("verify more", version, {"ledger": [0, 1]}, verify_only=True)
    producer.add("verify an unknown topic", version, {"missing": [0]}, verify_only=True)
    producer.add("verify an older epoch", version, one, verify_only=True, epoch=producer.epoch - 1)
    producer.add("verify a later epoch", version, one, verify_only=True, epoch=producer.epoch + 1)
    producer.add("verify another producer", version, one, verify_only=True, id=424242)
    producer.add("verify an unknown id", version, one, verify_only=True, name="stranger")
    producer.end("an end", 4, True)
    producer.add("verify behind", version, one, verify_only=True)


def _add_batched(play: Play, version: int) -> None:
    first = Producer(play, f"batched a v{version}").init("fresh")
    second = Producer(play, f"batched b v{version}").init("fresh")

    def entry(producer: Producer, *numbers: int, **fields: Any) -> Any:
        return add_partitions_to_txn_request.AddPartitionsToTxnTransaction(
            **{
                "transactional_id": producer.name,
                "producer_id": producer.id,
                "producer_epoch": producer.epoch,
                "topics": [
                    add_partitions_to_txn_request.AddPartitionsToTxnTopic(
                        name="ledger", partitions=list(numbers)
                    )
                ],
            }
            | fields
        )

    def ask(label: str, *transactions: Any) -> None:
        request = add_partitions_to_txn_request.AddPartitionsToTxnRequest(
            transactions=list(transactions)
        )
        play.ask(label, "AddPartitionsToTxn", version, request)

    ask("two", entry(first, 0), entry(second, 1))
    ask("one of them verified", entry(first, 0, 2, verify_only=True), entry(second, 2))
    ask("one of them fenced", entry(first, 3, producer_epoch=7), entry(second, 3))
    ask("one of them unknown", entry(first, 3, transactional_id="stranger"), entry(second, 3))
    for producer in (first, second):
        producer.end("an end", 4, True)


def produce(play: Play) -> None:
    """Every version of Produce, with and without a transaction around it."""
    play.part = "written"
    for version in play.produce_versions:
        producer = Producer(play, f"writes v{version}").init("fresh").init("again")
        producer.produce("without a transaction", version, "written")
        if play.state(str(producer.name)) == "Ongoing":
            producer.end("implicit", 5, True)
        producer.add("its partition", 3, {"written": [0]})
        producer.produce("in a transaction", version, "written")
        producer.produce("again", version, "written")
        producer.produce("a duplicate", version, "written", sequence=1)
        producer.produce("a gap", version, "written", sequence=7)
        producer.produce("another partition", version, "written", partition=1)
        producer.produce("an unknown partition", version, "written", partition=9)
        producer.produce("an unknown topic", version, "missing")
        producer.produce("no transactional id", version, "written", name=None)
        producer.produce("an empty transactional id", version, "written", name="")
        producer.produce("another transactional id", version, "written", name="stranger")
        producer.produce("a batch without a transaction", version, "written", transactional=False)
        producer.produce(
            "that batch without an id", version, "written", transactional=False, name=None
        )
        producer.produce("an older epoch", version, "written", epoch=producer.epoch - 1)
        producer.produce("a later epoch", version, "written", epoch=producer.epoch + 1, sequence=0)
        producer.produce("another producer id", version, "written", id=424242, sequence=0)
        producer.end("an end", 4 if version < IMPLICIT else 5, True)
        producer.produce("behind the end", version, "written")
        producer.end("whatever there is", 4 if version < IMPLICIT else 5, False)


def mix(play: Play) -> None:
    """Committed, aborted, plain and open, in one partition: what a fetch shows of it."""
    play.part = "mixed"
    committed = Producer(play, "mixed committed").init("fresh")
    aborted = Producer(play, "mixed aborted").init("fresh")
    left_open = Producer(play, "mixed open").init("fresh")
    plain = Producer(play, None).init("plain")
    for turn in range(2):
        committed.begin(0, topic="mixed")
        aborted.begin(0, topic="mixed")
        plain.produce(f"plain {turn}", 11, "mixed", transactional=False)
        committed.produce(f"more {turn}", 11, "mixed")
        aborted.end("abort", 4, False)
        committed.end("commit", 4, True)
    left_open.begin(0, topic="mixed")
    plain.produce("behind the open one", 11, "mixed", transactional=False)
    read_mixed(play)


def read_mixed(play: Play) -> None:
    for version in range(4, 19):
        for isolation in (0, 1):
            for offset in (0, 3, 6):
                label = f"isolation {isolation} from {offset}"
                fetch(play, label, version, "mixed", offset, isolation)
    for version in range(2, 12):
        for isolation in (0, 1):
            for at in (-1, -2):
                partition = list_offsets_request.ListOffsetsPartition(
                    partition_index=0, timestamp=at
                )
                topic = list_offsets_request.ListOffsetsTopic(name="mixed", partitions=[partition])
                request = list_offsets_request.ListOffsetsRequest(
                    isolation_level=isolation, topics=[topic]
                )
                play.ask(f"isolation {isolation} at {at}", "ListOffsets", version, request)


def fetch(
    play: Play,
    label: str,
    version: int,
    topic: str,
    offset: int,
    isolation: int,
    partition: int = 0,
) -> None:
    asked = fetch_request.FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20
    )
    request = fetch_request.FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=isolation,
        session_epoch=-1,
        topics=[
            fetch_request.FetchTopic(topic=topic, topic_id=play.ids[topic], partitions=[asked])
        ],
    )
    play.ask(label, "Fetch", version, request)
