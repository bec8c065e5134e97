"""The part of data_plane_script about offsets, epochs, producers, directories and deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pykbroker.protocol.messages import (
    delete_records_request,
    describe_log_dirs_request,
    describe_producers_request,
    init_producer_id_request,
    list_offsets_request,
    offset_for_leader_epoch_request,
)
from pykbroker.protocol.primitives import Message
from tests.interop.conversation import Line
from tests.interop.data_plane_produce import FAR_MS, T0


def list_offsets_lines() -> Iterator[Line]:
    def ask(*asked: dict[str, Any], topic: str = "plain", **more: Any) -> Message:
        return list_offsets_request.ListOffsetsRequest(
            **{"replica_id": -1} | more,
            topics=[
                list_offsets_request.ListOffsetsTopic(
                    name=topic,
                    partitions=[list_offsets_request.ListOffsetsPartition(**p) for p in asked],
                )
            ],
        )

    stamps = (-1, -2, -3, -4, -5, -6, -7, 0, 2, T0, T0 + 1, T0 + 2, T0 + 3, T0 + FAR_MS)
    for version in range(1, 12):
        for stamp in stamps:
            for topic in ("plain", "strict", "stamped"):
                at = f"T0+{stamp - T0}" if stamp > 10 else str(stamp)
                label = f"{topic} at {at}"
                yield Line(label, "ListOffsets", version, ask({"timestamp": stamp}, topic=topic))
        yield Line("twice", "ListOffsets", version, ask({"timestamp": -1}, {"timestamp": -2}))
        yield Line("unknown", "ListOffsets", version, ask({"timestamp": -1}, topic="missing"))
        yield Line(
            "partition 9", "ListOffsets", version, ask({"partition_index": 9, "timestamp": -1})
        )
        yield Line("a follower", "ListOffsets", version, ask({"timestamp": -1}, replica_id=5))
        yield Line("debugging", "ListOffsets", version, ask({"timestamp": -1}, replica_id=-2))
        if version >= 2:
            yield Line(
                "committed", "ListOffsets", version, ask({"timestamp": -1}, isolation_level=1)
            )
            yield Line(
                "isolation 2", "ListOffsets", version, ask({"timestamp": -1}, isolation_level=2)
            )
        yield Line("no partition", "ListOffsets", version, ask())
        if version >= 4:
            for epoch in (0, 3, -2):
                asked = {"timestamp": -1, "current_leader_epoch": epoch}
                yield Line(f"leader epoch {epoch}", "ListOffsets", version, ask(asked))


def epoch_lines() -> Iterator[Line]:
    for version in (2, 3, 4):
        for topic, partition, current, epoch in (
            ("plain", 0, -1, 0),
            ("plain", 0, 0, 0),
            ("plain", 0, 2, 0),
            ("plain", 0, -2, 0),
            ("plain", 0, -1, 5),
            ("plain", 0, -1, -1),
            ("strict", 0, -1, 0),
            ("plain", 9, -1, 0),
            ("missing", 0, -1, 0),
        ):
            asked = offset_for_leader_epoch_request.OffsetForLeaderPartition(
                partition=partition, current_leader_epoch=current, leader_epoch=epoch
            )
            message = offset_for_leader_epoch_request.OffsetForLeaderEpochRequest(
                replica_id=-1 if version >= 3 else -2,
                topics=[
                    offset_for_leader_epoch_request.OffsetForLeaderTopic(
                        topic=topic, partitions=[asked]
                    )
                ],
            )
            label = f"{topic}-{partition} epoch {epoch} in {current}"
            yield Line(label, "OffsetForLeaderEpoch", version, message)


def producer_lines() -> Iterator[Line]:
    for topic, partition in (("plain", 1), ("plain", 2), ("plain", 9), ("missing", 0), ("a b", 0)):
        message = describe_producers_request.DescribeProducersRequest(
            topics=[
                describe_producers_request.TopicRequest(name=topic, partition_indexes=[partition])
            ]
        )
        yield Line(f"{topic}-{partition}", "DescribeProducers", 0, message)
    for version in range(6):
        first: dict[str, Any] = {"transactional_id": None, "transaction_timeout_ms": 1000}
        told: list[tuple[str, dict[str, Any]]] = [
            ("fresh", first),
            ("empty id", {"transactional_id": "", "transaction_timeout_ms": 1000}),
            ("transactional", {"transactional_id": "x", "transaction_timeout_ms": 1000}),
            ("too long", {"transactional_id": "x", "transaction_timeout_ms": 900_001}),
            ("no time", {"transactional_id": "x", "transaction_timeout_ms": 0}),
        ]
        if version >= 3:
            told.append(("only an id", first | {"producer_id": 5}))
            told.append(("only an epoch", first | {"producer_epoch": 5}))
            told.append(("both", first | {"producer_id": 5, "producer_epoch": 5}))
        for label, fields in told:
            asked = init_producer_id_request.InitProducerIdRequest(**fields)
            yield Line(label, "InitProducerId", version, asked)
    for version in range(1, 6):
        for label, topics in (
            ("all plain", ("plain", [0, 1, 2, 9])),
            ("missing", ("missing", [0])),
        ):
            topic_asked = describe_log_dirs_request.DescribableLogDirTopic(
                topic=topics[0], partitions=topics[1]
            )
            dirs = describe_log_dirs_request.DescribeLogDirsRequest(topics=[topic_asked])
            yield Line(label, "DescribeLogDirs", version, dirs)


def delete_lines() -> Iterator[Line]:
    def ask(offset: int, topic: str = "plain", partition: int = 0) -> Message:
        return delete_records_request.DeleteRecordsRequest(
            timeout_ms=5000,
            topics=[
                delete_records_request.DeleteRecordsTopic(
                    name=topic,
                    partitions=[
                        delete_records_request.DeleteRecordsPartition(
                            partition_index=partition, offset=offset
                        )
                    ],
                )
            ],
        )

    make: Callable[..., Line] = lambda label, version, message: Line(  # noqa: E731
        label, "DeleteRecords", version, message
    )
    for version in (0, 1, 2):
        yield make("to 2", version, ask(2 + version))
        yield make("backwards", version, ask(1))
        yield make("beyond the end", version, ask(1 << 40))
        yield make("to -2", version, ask(-2))
        yield make("compacted", version, ask(1, topic="compacted"))
        yield make("compact,delete", version, ask(0, topic="both"))
        yield make("unknown topic", version, ask(1, topic="missing"))
        yield make("unknown partition", version, ask(1, partition=9))
    yield make("to the high watermark", 2, ask(-1))
    for version in (1, 11):
        for stamp in (-1, -2, -3, 0):
            message = list_offsets_request.ListOffsetsRequest(
                replica_id=-1,
                topics=[
                    list_offsets_request.ListOffsetsTopic(
                        name="plain",
                        partitions=[list_offsets_request.ListOffsetsPartition(timestamp=stamp)],
                    )
                ],
            )
            yield Line(f"after deletion, at {stamp}", "ListOffsets", version, message)
