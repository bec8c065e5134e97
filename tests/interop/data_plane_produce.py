"""The part of data_plane_script that produces: every version, then sequences of a producer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from pykbroker.protocol.crc32c import crc32c
from pykbroker.protocol.messages import produce_request
from pykbroker.protocol.record_batch import build_batch
from tests.interop.conversation import UNKNOWN_ID, Line, Story

T0 = int(time.time() * 1000) // 1000 * 1000 - 60_000
FAR_MS = 10 * 86_400_000  # beyond message.timestamp.after.max.ms whenever the test runs


def batch(
    *values: bytes | None, key: bytes | None = None, at: int | None = None, **options: Any
) -> bytes:
    at = T0 if at is None else at
    records = [(key, value, at + i, ()) for i, value in enumerate(values or (b"v",))]
    return bytes(build_batch(records, **options))


def patched(raw: bytes, position: int, *changed: int) -> bytes:
    """Bytes changed, checksum made right again."""
    raw = raw[:position] + bytes(changed) + raw[position + len(changed) :]
    return raw[:17] + crc32c(raw[21:]).to_bytes(4, "big") + raw[21:]


def produce(
    story: Story, topic: str, records: bytes | None, acks: int = -1, partition: int = 0, **more: Any
) -> produce_request.ProduceRequest:
    return produce_request.ProduceRequest(
        acks=acks,
        timeout_ms=5000,
        transactional_id=more.get("transactional_id"),
        topic_data=[
            produce_request.TopicProduceData(
                name=topic,
                topic_id=story.ids.get(topic, UNKNOWN_ID),
                partition_data=[
                    produce_request.PartitionProduceData(index=partition, records=records)
                ],
            )
        ],
    )


def _batches() -> dict[str, tuple[str, bytes]]:
    """By what is the matter with them: a topic, and the bytes."""
    one = batch()
    bad: dict[str, tuple[str, bytes]] = {
        "one record": ("plain", one),
        "three records": ("plain", batch(b"a", b"b", b"c")),
        "no bytes": ("plain", b""),
        "eleven bytes": ("plain", one[:11]),
        "sixty bytes": ("plain", one[:60]),
        "cut by one": ("plain", one[:-1]),
        "one byte more": ("plain", one + b"\0"),
        "two batches": ("plain", one + one),
        "magic 0": ("plain", one[:16] + b"\0" + one[17:]),
        "magic 1": ("plain", one[:16] + b"\1" + one[17:]),
        "magic 3": ("plain", one[:16] + b"\3" + one[17:]),
        "wrong checksum": ("plain", one[:-1] + b"\1"),
        "length 13": ("plain", one[:8] + bytes((0, 0, 0, 13)) + one[12:]),
        "length -1": ("plain", one[:8] + b"\xff\xff\xff\xff" + one[12:]),
        "count 0": ("plain", patched(one, 57, 0, 0, 0, 0)),
        "count 2": ("plain", patched(one, 57, 0, 0, 0, 2)),
        "count -1": ("plain", patched(one, 57, 255, 255, 255, 255)),
        "last offset delta 5": ("plain", patched(one, 23, 0, 0, 0, 5)),
        "control batch": ("plain", patched(one, 21, 0, 0x20)),
        "log append time bit": ("plain", patched(one, 21, 0, 0x08)),
        "delete horizon bit": ("plain", patched(one, 21, 0, 0x40)),
        "transactional": ("plain", batch(is_transactional=True)),
        "null key, compacted": ("compacted", batch(b"a", b"b")),
        "with key, compacted": ("compacted", batch(b"a", key=b"k")),
        "tombstone": ("compacted", batch(None, key=b"k")),
        "null key, compact,delete": ("both", one),
        "log append time": ("stamped", batch(b"a", b"b")),
        "too large": ("small", batch(bytes(400))),
        "just fits": ("small", batch(bytes(200))),
        "recompressed": ("gzipped", batch(bytes(400))),
        "far future": ("plain", batch(at=T0 + FAR_MS)),
        "far past": ("plain", batch(at=1)),
        "no timestamp": ("plain", batch(at=-1)),
        "unknown topic": ("missing", one),
        "too few replicas": ("strict", one),
        "a null value": ("plain", batch(None)),
    }
    codecs = {f"codec {c}": ("plain", batch(bytes(300), codec=c)) for c in (1, 2, 3, 4)}
    return bad | codecs


def produce_lines(story: Story) -> Iterator[Line]:
    one = batch()
    bad = _batches()
    for version in (3, 5, 6, 7, 8, 9, 10, 12, 13):
        for label, (topic, records) in bad.items():
            yield Line(label, "Produce", version, produce(story, topic, records))
        yield Line("acks 1", "Produce", version, produce(story, "plain", one, acks=1))
        yield Line("acks 2", "Produce", version, produce(story, "plain", one, acks=2))
        yield Line("acks -2", "Produce", version, produce(story, "plain", one, acks=-2))
        yield Line("partition 9", "Produce", version, produce(story, "plain", one, partition=9))
        yield Line(
            "a transactional id without a transaction",
            "Produce",
            version,
            produce(story, "plain", one, transactional_id="t"),
        )
        yield Line(
            "transactional, with an id that nobody knows",
            "Produce",
            version,
            produce(
                story,
                "plain",
                batch(is_transactional=True, producer_id=5, producer_epoch=0, base_sequence=0),
                transactional_id="t",
            ),
        )
        for label, records in (
            ("a transactional batch", batch(is_transactional=True)),
            ("a length of 13", patched(one, 8, 0, 0, 0, 13)),
            ("a length of 14", patched(one, 8, 0, 0, 0, 14)),
            ("magic 3", patched(one, 16, 3)),
            ("zeros behind", one + bytes(12)),
            ("two of zstd", batch(codec=4) * 2),
        ):
            for acks in (-1, 2):
                message = produce(story, "plain", one, acks=acks)
                message.topic_data += produce(story, "stamped", records).topic_data
                message.topic_data += produce(story, "missing", one).topic_data
                yield Line(f"{label} behind a good one, acks {acks}", "Produce", version, message)
        yield Line(
            "nothing", "Produce", version, produce_request.ProduceRequest(acks=-1, timeout_ms=100)
        )
    yield Line("acks 0", "Produce", 9, produce(story, "plain", one, acks=0), 0.3)
    yield Line("acks 0, error", "Produce", 9, produce(story, "missing", one, acks=0))


def idempotent_lines(story: Story) -> Iterator[Line]:
    def send(label: str, sequence: int, epoch: int = 0, count: int = 1, producer: int = 77) -> Line:
        records = batch(
            *[b"v"] * count,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
        )
        return Line(label, "Produce", 9, produce(story, "plain", records, partition=1))

    yield send("first", 0)
    yield send("second, of three", 1, count=3)
    for sequence in range(4, 9):
        yield send(f"sequence {sequence}", sequence)
    yield send("the last again", 8)
    yield send("one of the last five again", 5)
    yield send("older than the last five", 0)
    yield send("part of a batch again", 2)
    yield send("a gap", 20)
    yield send("a new epoch not at 0", 5, epoch=1)
    yield send("a new epoch at 0", 0, epoch=1)
    yield send("the old epoch", 9, epoch=0)
    yield send("an unknown producer in the middle", 33, producer=78)
    yield send("no sequence", -1, producer=79)
    yield send("a negative epoch", 0, epoch=-1, producer=80)
    yield send("the largest sequence", 0x7FFFFFFF, producer=81)
    yield send("and around", 0, producer=81)
