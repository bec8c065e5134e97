"""The short look at a batch agrees with the long one, whatever the bytes are."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest

from pykbroker.log.partition import log_appender
from pykbroker.log.validation.batch_validation import validate
from pykbroker.log.validation.plain_batch import plain_header, transactional_outcome
from pykbroker.log.validation.validation_rules import (
    CLIENT,
    COORDINATOR,
    ValidationOutcome,
    ValidationRules,
)
from pykbroker.protocol import compression
from pykbroker.protocol.control_records import EndTxnMarker, build_marker_batch
from pykbroker.protocol.record_batch import (
    ATTRIBUTES_AT,
    CRC_AT,
    RECORDS_AT,
    build_batch,
    compute_crc,
    unpack_header,
)
from tests.log.log_makers import memory_disk, open_orders

NOW_MS = 1_700_000_000_000
RULES = ValidationRules("orders-0", before_max_ms=60_000, after_max_ms=60_000)
COMPACTING = ValidationRules("orders-0", before_max_ms=60_000, after_max_ms=60_000, compact=True)


def random_batch(chance: random.Random, **fields: Any) -> bytearray:
    """A sound batch such as clients send, now and then with something special."""
    count = chance.choice((1, 1, 1, 2, 3, 40))
    times = [NOW_MS + chance.choice((0, 0, 0, -5, 7, 50_000, -70_000)) for _ in range(count)]
    records = [
        (
            chance.choice((None, b"", b"key", b"k" * 70)),
            chance.choice((None, b"", b"value", b"v" * 100, b"v" * 9000)),
            at,
            [("h", b"v")] if chance.random() < 0.1 else [],
        )
        for at in (sorted(times) if chance.random() < 0.5 else times)
    ]
    if chance.random() < 0.3:
        fields |= {"producer_id": 7, "producer_epoch": 0, "base_sequence": chance.randrange(-1, 3)}
    return build_batch(records, **fields)


def spoil(chance: random.Random, batch: bytearray) -> None:
    """Change some bytes, more often those that say much; the checksum may be made right again."""
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        end = chance.choice((RECORDS_AT, min(len(batch), RECORDS_AT + 12), len(batch)))
        batch[chance.randrange(end)] = chance.choice((0, 1, 2, 0x7F, 0x80, 0x81, 0xFF))
    if chance.random() < 0.1:
        batch += bytes(chance.randrange(1, 80))
    if chance.random() < 0.1:
        del batch[chance.randrange(RECORDS_AT, len(batch)) :]
    if chance.random() < 0.8:
        struct.pack_into(">I", batch, CRC_AT, compute_crc(batch))


@pytest.mark.parametrize("rules", [RULES, COMPACTING], ids=["plain topic", "compacted topic"])
def test_what_is_plain_passes_validation_unchanged(rules: ValidationRules) -> None:
    plain = 0
    for seed in range(4000):
        chance = random.Random(seed)
        batch = random_batch(chance)
        spoil(chance, batch)
        before = bytes(batch)
        found = plain_header(memoryview(batch), rules, NOW_MS)
        assert batch == before
        if found is None:
            continue
        plain += 1
        outcome = validate(batch, rules, NOW_MS)
        header = unpack_header(batch)
        assert (outcome.error, outcome.error_message) == (0, None), seed
        assert bytes(outcome.batch) == before, seed
        assert found == (
            header.last_offset_delta,
            outcome.header.max_timestamp,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
        )
    assert 500 < plain < 3500


@pytest.mark.parametrize("rules", [RULES, COMPACTING], ids=["plain topic", "compacted topic"])
def test_a_transaction_gets_the_outcome_of_validation(rules: ValidationRules) -> None:
    plain = {CLIENT: 0, COORDINATOR: 0}
    for seed in range(4000):
        chance = random.Random(seed)
        if chance.random() < 0.5:
            batch = random_batch(chance, is_transactional=chance.random() < 0.9)
        else:
            marker = EndTxnMarker(chance.randrange(2), chance.randrange(3))
            batch = build_marker_batch(
                marker, producer_id=7, producer_epoch=chance.randrange(3), timestamp_ms=NOW_MS
            )
        spoil(chance, batch)
        origin = chance.choice((CLIENT, COORDINATOR))
        view = memoryview(bytes(batch) if chance.random() < 0.2 else batch)
        found = transactional_outcome(view, rules, NOW_MS, origin)
        if found is None:
            continue
        plain[origin] += 1
        outcome = validate(batch, rules, NOW_MS, origin)
        assert shown(found) == shown(outcome), seed
    assert all(count > 100 for count in plain.values()), plain


def shown(outcome: ValidationOutcome) -> list[Any]:
    special = {"batch": bytes(outcome.batch), "header": repr(outcome.header)}
    return [special.get(name, getattr(outcome, name)) for name in outcome.__slots__]


def test_most_sound_batches_are_plain() -> None:
    batches: list[list[Any]] = [
        [(None, b"v" * 100, NOW_MS, ())],
        [(b"key", b"v" * 8000, NOW_MS, ())],
        [(b"key", None, NOW_MS, [("h", b"v")])],
        [(b"k%d" % n, b"v" * n, NOW_MS + n, []) for n in range(200)],
    ]
    for records in batches:
        assert plain_header(memoryview(build_batch(records)), RULES, NOW_MS) is not None


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("key", [b"", b"k" * 70, b"k" * 9000])
def test_compacted_topics_want_keys(key: bytes, count: int) -> None:
    keyed = build_batch([(key, None, NOW_MS, [])] * count)
    assert plain_header(memoryview(keyed), COMPACTING, NOW_MS) is not None
    keyless = build_batch([(key, b"v", NOW_MS, [])] * (count - 1) + [(None, b"v", NOW_MS, [])])
    assert plain_header(memoryview(keyless), COMPACTING, NOW_MS) is None
    assert plain_header(memoryview(keyless), RULES, NOW_MS) is not None


@pytest.mark.parametrize(
    ("rules", "ahead_ms"),
    [
        (ValidationRules("p", log_append_time=True), 0),
        (ValidationRules("p", codec=compression.GZIP), 0),
        (ValidationRules("p", max_message_bytes=100), 0),
        (ValidationRules("p", segment_bytes=100), 0),
        (ValidationRules("p", before_max_ms=0), -1),
        (ValidationRules("p", after_max_ms=0), 1),
    ],
)
def test_topics_that_ask_for_more_have_no_plain_batches(
    rules: ValidationRules, ahead_ms: int
) -> None:
    batch = build_batch([(b"key", b"v" * 100, NOW_MS + ahead_ms, [])])
    assert plain_header(memoryview(batch), ValidationRules("p"), NOW_MS) is not None
    assert plain_header(memoryview(batch), rules, NOW_MS) is None


@pytest.mark.parametrize("bit", range(16))
def test_no_attribute_is_plain(bit: int) -> None:
    batch = build_batch([(b"key", b"value", NOW_MS, [])])
    struct.pack_into(">H", batch, ATTRIBUTES_AT, 1 << bit)
    struct.pack_into(">I", batch, CRC_AT, compute_crc(batch))
    assert plain_header(memoryview(batch), RULES, NOW_MS) is None


def test_a_log_is_the_same_with_and_without_the_short_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sequences of idempotent producers too: repeated, out of order, of other epochs, wrapping."""
    for seed in range(60):
        told = []
        for is_short in (True, False):
            with monkeypatch.context() as patched:
                if not is_short:
                    patched.setattr(log_appender, "plain_header", lambda *_, **__: None)
                    patched.setattr(log_appender, "transactional_outcome", lambda *_: None)
                told.append(life(random.Random(seed)))
        assert told[0] == told[1], seed


def life(chance: random.Random) -> list[Any]:
    """What one random life of a log shows."""
    log = open_orders(memory_disk())
    shown: list[Any] = []
    sequences = {1: 0, 2: 0x7FFFFFFF - 3}
    epochs = {1: 0, 2: 0}
    for _ in range(60):
        fields: dict[str, Any] = {}
        count = chance.choice((1, 1, 2, 5))
        if chance.random() < 0.7:
            producer = chance.choice((1, 2))
            if chance.random() < 0.05:
                epochs[producer] += 1
                sequences[producer] = 0
            step = chance.choice((0, 0, 0, 0, 0, 0, -1, 1))
            fields = {
                "producer_id": producer,
                "producer_epoch": epochs[producer] - (chance.random() < 0.05),
                "base_sequence": (sequences[producer] + step) & 0x7FFFFFFF,
                "is_transactional": chance.random() < 0.05,
            }
            if not step:
                sequences[producer] = (sequences[producer] + count) & 0x7FFFFFFF
        records = [(None, b"v", NOW_MS, ()) for _ in range(count)]
        batch = build_batch(records, **fields)
        epoch = chance.choice((0, 0, 0, 1))
        outcome = log.append_as_leader(batch, epoch, NOW_MS)
        shown.append([getattr(outcome, name) for name in outcome.__slots__])
        if chance.random() < 0.3:
            log.write_pending()
    log.write_pending()
    found = log.read(0, 1 << 20, log.log_end_offset).slice
    assert found is not None
    return [*shown, found.read(), log.producers.snapshot_bytes(), log.leader_epochs.epochs.entries]
