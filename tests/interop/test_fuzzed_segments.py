"""Thousands of damaged segments read by Apache Kafka's own reader and by ours: the same batches,
the same verdicts, the same records.

What Apache cannot read we never read. A few batches with a right checksum are refused by us alone:
Apache stops at the count of the header and does not look at what is behind it, at the end of a
codec's frame, or at the order of offset deltas.

Damage: bits, cut ends, overwritten fields; half of the cases get a right checksum afterwards, so
that the records themselves are judged.

PYKBROKER_FUZZ_SEED=7 repeats one seed.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
import zlib
from pathlib import Path

from pykbroker.protocol import record_batch as rb
from pykbroker.protocol.record import CorruptBatch, CorruptRecord
from tests.harness.apache import java_command

ORACLE = Path(__file__).parent / "java" / "SegmentOracle.java"
SEED = os.environ.get("PYKBROKER_FUZZ_SEED")
FILES = 1500
NOW = 1_700_000_000_000


def batches(dice: random.Random) -> list[bytearray]:
    """A few good ones of every codec."""
    found: list[bytearray] = []
    offset = 0
    for _ in range(dice.randint(1, 4)):
        records = [
            (
                dice.choice([None, b"", b"key-%d" % n]),
                dice.choice([None, b"", dice.randbytes(3) * dice.randint(0, 40)]),
                NOW + dice.randint(-5, 5),
                [(f"h{n}", dice.choice([None, b"x"]))] if dice.random() < 0.3 else [],
            )
            for n in range(dice.randint(1, 6))
        ]
        found.append(rb.build_batch(records, base_offset=offset, codec=dice.randrange(5)))
        offset += len(records)
    return found


def damaged(dice: random.Random) -> bytes:
    parts = batches(dice)
    victim = dice.choice(parts)
    kind = dice.randrange(6)
    if kind == 0:
        at = dice.randrange(len(victim))
        if at != rb.MAGIC_AT:  # Apache's reader of files takes any magic above 2 for 2
            victim[at] ^= 1 << dice.randrange(8)
    elif kind == 1:
        at = dice.randrange(rb.RECORDS_AT, len(victim))
        victim[at] = dice.randrange(256)
    elif kind == 2:
        struct.pack_into(">i", victim, rb.BATCH_LENGTH_AT, dice.choice([-1, 0, 13, 14, 48, 49, 70]))
    elif kind == 3:
        struct.pack_into(">i", victim, rb.RECORD_COUNT_AT, dice.choice([-1, 0, 1, 2, 7, 99]))
    elif kind == 4:
        at = dice.randrange(rb.RECORDS_AT, len(victim))
        victim[at : at + 4] = dice.randbytes(4)[: len(victim) - at]
    if kind in (1, 3, 4) or dice.random() < 0.3:
        struct.pack_into(">I", victim, rb.CRC_AT, rb.compute_crc(victim))
    content = b"".join(parts)
    return content[: dice.randrange(len(content))] if kind == 5 else content


def ours(name: str, content: bytes) -> list[str]:
    """The same lines as SegmentOracle.java."""
    lines: list[str] = []
    try:
        for position, header in rb.iter_headers(content, partial_tail=True):
            batch = memoryview(content)[position : position + header.size_bytes]
            lines.append(f"{name} {position} {header.base_offset} {verdict(header, batch)}")
    except CorruptBatch:
        lines.append(f"{name} corrupt")
    return lines


def verdict(header: rb.BatchHeader, batch: memoryview) -> str:
    if not rb.check_crc(batch):
        return "invalid"
    digest = count = 0
    try:
        for record in rb.iter_records(batch, header):
            digest = zlib.crc32(encoded(record), digest)
            count += 1
    except CorruptRecord:
        return "bad"
    return f"{count} {digest}"


def encoded(record: rb.Record) -> bytes:
    parts = [struct.pack(">qq", record.offset, record.timestamp)]
    headers = [
        part for key, value in record.headers for part in (key.encode(errors="replace"), value)
    ]
    for part in (record.key, record.value, *headers):
        parts.append(struct.pack(">i", -1 if part is None else len(part)))
        parts.append(part or b"")
    return b"".join(parts)


def up_to_damage(lines: list[str]) -> dict[str, list[str]]:
    """Per file what is read before the first batch that is not whole; then only that there is one.

    Apache calls a batch shorter than its header invalid where we call the file corrupt there, and
    both go no further: recovery cuts there.
    """
    found: dict[str, list[str]] = {}
    for line in lines:
        name, _, rest = line.partition(" ")
        seen = found.setdefault(name, [])
        if "damage" not in seen:
            seen.append("damage" if rest.endswith(("corrupt", "invalid")) else rest)
    return found


def test_both_readers_see_the_same(tmp_path: Path) -> None:
    seed = int(SEED) if SEED else random.randrange(1 << 32)
    dice = random.Random(seed)
    lines: list[str] = []
    for number in range(FILES):
        name = f"{number:05}.log"
        content = damaged(dice)
        (tmp_path / name).write_bytes(content)
        lines += ours(name, content)
    command = java_command(str(ORACLE), str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = up_to_damage(done.stdout.splitlines())
    mine = up_to_damage(lines)
    assert mine.keys() == theirs.keys()
    stricter = 0
    for name, seen in mine.items():
        assert len(seen) == len(theirs[name]), f"PYKBROKER_FUZZ_SEED={seed}: {name}"
        for our, their in zip(seen, theirs[name], strict=True):
            if our != their:
                assert our.endswith("bad"), f"PYKBROKER_FUZZ_SEED={seed}: {name}: {our} | {their}"
                stricter += 1
    assert stricter < FILES / 10
    assert len(mine) > FILES * 0.8
    assert sum("damage" in seen for seen in mine.values()) > FILES / 10
    assert sum(line.endswith("bad") for seen in mine.values() for line in seen) > FILES / 10
