"""Apache's log and ours answer the same to thousands of good, odd and damaged batches.

Both sides keep their logs over all batches, so offsets, duplicates and sequences are compared too,
and in the end what was stored.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.real.files import RealFiles
from pykbroker.errors import ErrorCode
from pykbroker.log.partition.partition_log import AppendOutcome, PartitionLog
from pykbroker.log.recovery.opening import open_log
from pykbroker.protocol import record_batch as rb
from pykbroker.protocol.record import CorruptRecord
from pykbroker.protocol.record_batch import NewRecord, build_batch, iter_batches, iter_records
from pykbroker.types import TopicPartition
from tests.harness.apache import java_command

ORACLE = Path(__file__).parent / "java" / "ValidationOracle.java"
NOW = 1_700_000_000_000
PARTITION = TopicPartition("judged", 0)
PATCHES = (
    (rb.BASE_OFFSET_AT, ">q", (0, 1, -1)),
    (rb.BATCH_LENGTH_AT, ">i", (-1, 0, 13, 14, 48, 49, 2**31 - 1)),
    (rb.MAGIC_AT, ">b", (0, 1, 3, -1)),
    (rb.ATTRIBUTES_AT, ">h", (0x20, 0x08, 0x40, 0x10, 0x80)),
    (rb.LAST_OFFSET_DELTA_AT, ">i", (-1, 0, 1, 99)),
    (rb.MAX_TIMESTAMP_AT, ">q", (-1, 0, NOW + 10**10)),
    (rb.BASE_TIMESTAMP_AT, ">q", (-1, 0, NOW - 10**10, NOW + 10**10)),
    (rb.PRODUCER_ID_AT, ">q", (-1, 3)),
    (rb.PRODUCER_EPOCH_AT, ">h", (0, 1, 7)),
    (rb.BASE_SEQUENCE_AT, ">i", (-1, 0, 2**31 - 1)),
    (rb.RECORD_COUNT_AT, ">i", (-1, 0, 1, 99)),
)
#: Where we are kinder than Apache on purpose (batch_validation.py).
KINDER = {
    ErrorCode.UNKNOWN_SERVER_ERROR: {
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.CORRUPT_MESSAGE,
    }
}


def with_crc(batch: bytearray) -> bytes:
    if len(batch) > rb.RECORDS_AT:
        struct.pack_into(">I", batch, rb.CRC_AT, rb.compute_crc(batch))
    return bytes(batch)


def batches(dice: random.Random, count: int) -> Iterator[bytes]:
    """Good ones, header fields changed, bytes changed behind a right checksum, cut ones, pairs."""
    sequences = [0] * 4
    for _ in range(count):
        records: list[NewRecord] = [
            (
                None if dice.random() < 0.2 else b"key-%d" % dice.randrange(9),
                None if dice.random() < 0.2 else dice.randbytes(dice.randrange(60)),
                NOW + dice.choice((0, 0, 0, 5, -1000, 3_600_001, -(10**10))),
                [("h", b"x")] if dice.random() < 0.2 else (),
            )
            for _ in range(dice.randrange(1, 6))
        ]
        producer = dice.randrange(-6, 4)
        idempotent = producer >= 0
        batch = build_batch(
            records,
            codec=dice.randrange(5),
            producer_id=producer if idempotent else -1,
            producer_epoch=0 if idempotent else -1,
            base_sequence=sequences[producer] if idempotent else -1,
        )
        what = dice.random()
        if what < 0.4:
            if idempotent and dice.random() < 0.8:
                sequences[producer] += len(records)
            yield bytes(batch)
        elif what < 0.65:
            position, form, values = dice.choice(PATCHES)
            struct.pack_into(form, batch, position, dice.choice(values))
            yield with_crc(batch) if dice.random() < 0.9 else bytes(batch)
        elif what < 0.85 and not batch[rb.ATTRIBUTES_AT + 1] & 7:
            for _ in range(dice.randrange(1, 3)):
                batch[dice.randrange(rb.RECORDS_AT, len(batch))] = dice.randrange(256)
            yield with_crc(batch)
        elif what < 0.9:
            yield bytes(batch[: dice.randrange(len(batch))])
        elif what < 0.95:
            yield bytes(batch) + dice.randbytes(dice.randrange(20))
        else:
            yield bytes(batch) + bytes(batch)


class Apache:
    """ValidationOracle.java behind a pipe."""

    def __init__(self, directory: Path, settings: dict[str, str]) -> None:
        directory.mkdir()
        texts = [f"{name}={value}" for name, value in settings.items()]
        self.process = subprocess.Popen(
            java_command(str(ORACLE), str(directory), str(NOW), *texts, heap="512m"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def answer(self, records: bytes) -> tuple[ErrorCode, int, int, list[int]]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(struct.pack(">i", len(records)) + records)
        stdin.flush()
        error, first, last, count = struct.unpack(">hqqi", stdout.read(22))
        wrong = list(struct.unpack(f">{count}i", stdout.read(4 * count)))
        return ErrorCode(error), first, last, wrong

    def stop(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def opened(directory: Path, config: TopicConfig) -> PartitionLog:
    return open_log(RealFiles(), str(directory), PARTITION, config, now_ms=NOW)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cleanup.policy": "compact", "message.timestamp.before.max.ms": "5000000000"},
        {"message.timestamp.type": "LogAppendTime"},
        {"compression.type": "lz4", "max.message.bytes": "300"},
        {"compression.type": "uncompressed", "message.timestamp.type": "LogAppendTime"},
    ],
    ids=["defaults", "compact", "append-time", "lz4", "uncompressed"],
)
def test_answers_and_logs_are_the_same(tmp_path: Path, settings: dict[str, str]) -> None:
    attributes = {name.replace(".", "_"): value for name, value in settings.items()}
    log = opened(tmp_path / "judged-0", TopicConfig.default(**attributes))
    (tmp_path / "apache").mkdir()
    apache = Apache(tmp_path / "apache" / "judged-0", settings)
    seen: dict[ErrorCode, int] = {}
    try:
        for number, records in enumerate(batches(random.Random(str(settings)), 2000)):
            theirs = apache.answer(records)
            ours = log.append_as_leader(memoryview(bytearray(records)), 0, NOW)
            log.write_pending()
            compare(number, records, ours, theirs)
            seen[theirs[0]] = seen.get(theirs[0], 0) + 1
    finally:
        apache.stop()
    assert seen[ErrorCode.NONE] > 80
    assert seen[ErrorCode.INVALID_RECORD] > 50
    assert seen[ErrorCode.CORRUPT_MESSAGE] > 20
    written = opened(tmp_path / "apache" / "judged-0", log.config)
    for mine, apaches in zip(contents(log), contents(written), strict=True):
        # Apache stores uncompressed records whose offset deltas lie; we number them anew.
        assert apaches[-1] is None or mine == apaches


def contents(log: PartitionLog) -> Iterator[tuple[object, ...]]:
    """All that tells batches apart; None for records that cannot be decoded."""
    for segment in log.segments:
        for header, batch in iter_batches(segment.file.pread(segment.size, 0)):
            try:
                records: object = [
                    (r.offset, r.timestamp, r.key, r.value, list(r.headers))
                    for r in iter_records(batch)
                ]
            except CorruptRecord:
                records = None
            yield (
                header.base_offset,
                header.last_offset,
                header.partition_leader_epoch,
                header.attributes,
                header.max_timestamp,
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                records,
            )


def compare(
    number: int,
    records: bytes,
    ours: AppendOutcome,
    theirs: tuple[ErrorCode, int, int, list[int]],
) -> None:
    error, first, last, wrong = theirs
    place = f"batch {number}: {records.hex()}, {ours.error_message}, Apache {error.name}"
    expected = KINDER.get(error, {error})
    if error == ErrorCode.NONE and first == -1:
        expected = {ErrorCode.INVALID_RECORD}  # nothing to append, and no answer worth the name
    assert ErrorCode(ours.error) in expected, place
    if error == ErrorCode.NONE and first >= 0:
        assert (ours.base_offset, ours.last_offset) == (first, last), place
    if error in (ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP):
        assert [index for index, _ in ours.record_errors or []] == wrong, place
