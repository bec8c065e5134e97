"""The part of transaction_script about markers: WriteTxnMarkers of a coordinator or an operator."""

from __future__ import annotations

from typing import Any

from pykbroker.protocol.messages import write_txn_markers_request
from tests.interop.transaction_partitions import fetch
from tests.interop.transaction_play import Play
from tests.interop.transaction_producer import Producer


def write_markers(play: Play) -> None:
    play.part = "marked"
    for version in (1, 2):
        for transaction_version in (0, 1, 2, 3) if version == 2 else (0,):
            _write_markers(play, version, transaction_version)


def mark(play: Play, label: str, version: int, *markers: Any) -> None:
    request = write_txn_markers_request.WriteTxnMarkersRequest(markers=list(markers))
    play.ask(label, "WriteTxnMarkers", version, request)


def marker(producer: Producer, *topics: tuple[str, list[int]], **fields: Any) -> Any:
    """That the producer's transaction is aborted, by the coordinator of epoch 0."""
    settings: dict[str, Any] = {
        "producer_id": producer.id,
        "producer_epoch": producer.epoch,
        "coordinator_epoch": 0,
        "transaction_result": False,
    }
    named = [
        write_txn_markers_request.WritableTxnMarkerTopic(name=topic, partition_indexes=numbers)
        for topic, numbers in topics
    ]
    return write_txn_markers_request.WritableTxnMarker(topics=named, **settings | fields)


def _write_markers(play: Play, version: int, transaction_version: int) -> None:
    producer = (
        Producer(play, f"marked v{version} {transaction_version}").init("fresh").init("again")
    )

    def ask(label: str, *markers: Any) -> None:
        for each in markers:
            each.transaction_version = transaction_version
        mark(play, f"{label}, transactions {transaction_version}", version, *markers)

    def one(*topics: tuple[str, list[int]], **fields: Any) -> Any:
        return marker(producer, *topics or (("marked", [0]),), **fields)

    producer.begin(0, 1, topic="marked")
    ask("nothing")
    ask("no topics", marker(producer))
    ask("no epoch", one(producer_epoch=-1))
    ask("no producer", one(producer_id=-1))
    ask("an older epoch", one(producer_epoch=producer.epoch - 1))
    ask("unknown partitions", one(("marked", [0, 9]), ("missing", [0])))
    ask("the same epoch", one())
    ask("the next epoch", one(("marked", [1]), producer_epoch=producer.epoch + 1))
    ask("again", one())
    ask("an older coordinator", one(coordinator_epoch=-1))
    ask("a later coordinator", one(coordinator_epoch=5))
    ask("an older coordinator again", one(coordinator_epoch=4))
    ask("a committing one", one(coordinator_epoch=5, transaction_result=True))
    ask("a producer that nobody knows", one(producer_id=70_000 + version))
    ask("two markers", one(coordinator_epoch=5), one(("marked", [2])))
    ask("a partition of groups", one(("__consumer_offsets", [0])))
    for partition in range(3):
        fetch(play, "what is there", 12, "marked", 0, 1, partition)
