"""record_walk: it accepts exactly what decodes, and sees what a plain loop sees."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.log.validation.record_walk import is_plain_record, survey_records
from pykbroker.protocol.record import CorruptRecord, encode_record, read_records

DELTA = st.integers(-300, 300) | st.integers(-(2**62), 2**62)
FIELD = st.none() | st.binary(max_size=100) | st.binary(min_size=8180, max_size=8200)
HEADERS = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=9)), max_size=2)
RECORD = st.tuples(DELTA, FIELD, FIELD, HEADERS)


@given(st.lists(RECORD, max_size=8), st.booleans(), st.integers(0, 9000))
@settings(max_examples=150)
def test_sees_what_a_plain_loop_sees(
    records: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]],
    dense: bool,
    gap: int,
) -> None:
    encoded = [
        encode_record(i if dense else i + gap, delta, key, value, headers)
        for i, (delta, key, value, headers) in enumerate(records)
    ]
    survey = survey_records(b"".join(encoded), len(encoded))
    deltas = [delta for delta, _, _, _ in records]
    keyless = [i for i, (_, key, _, _) in enumerate(records) if key is None]
    assert survey.dense == (dense or gap == 0 or not records)
    assert survey.first_keyless == (keyless[0] if keyless else -1)
    if records:
        assert survey.max_delta == max(deltas)
        assert survey.min_delta == min(0, *deltas)
        assert survey.largest == max(read_body_length(record) for record in encoded)


def read_body_length(encoded: bytes) -> int:
    for prefix in range(1, 5):
        body = len(encoded) - prefix
        raw = body << 1
        if (raw.bit_length() + 6) // 7 == prefix:
            return body
    raise AssertionError(len(encoded))


@pytest.mark.parametrize("count", [1, 63, 64, 65, 200, 8191, 8192, 8193, 9000])
@pytest.mark.parametrize("shape", ["equal", "growing", "keyless", "headers"])
def test_long_batches(count: int, shape: str) -> None:
    encoded = b"".join(
        encode_record(
            i,
            i // 3,
            None if shape == "keyless" else b"key",
            b"v" * (i % 90 if shape == "growing" else 70),
            [("h", b"x")] if shape == "headers" else (),
        )
        for i in range(count)
    )
    survey = survey_records(encoded, count)
    assert survey.dense
    assert (survey.max_delta, survey.min_delta) == ((count - 1) // 3, 0)
    assert survey.first_keyless == (0 if shape == "keyless" else -1)
    for wrong in (count - 1, count + 1):
        with pytest.raises(CorruptRecord):
            survey_records(encoded, wrong)
    with pytest.raises(CorruptRecord):
        survey_records(encoded + b"\x00", count)
    with pytest.raises(CorruptRecord):
        survey_records(encoded[:-1], count)


def decodes(payload: bytes, count: int) -> bool:
    pos = 0
    try:
        for _ in range(count):
            pos = next(read_records(payload, 1, pos))[5]
    except (CorruptRecord, IndexError):
        return False
    except UnicodeDecodeError:
        return False
    return pos == len(payload)


BASE = [
    encode_record(i, i, b"k%d" % i, b"v" * 30, [("a", b"b")] if i % 5 == 4 else ())
    for i in range(90)
]


@given(st.data())
@settings(max_examples=400)
def test_nothing_passes_that_does_not_decode(chance: st.DataObject) -> None:
    payload = bytearray(b"".join(BASE))
    for _ in range(chance.draw(st.integers(1, 3))):
        payload[chance.draw(st.integers(0, len(payload) - 1))] = chance.draw(st.integers(0, 255))
    try:
        survey_records(bytes(payload), len(BASE))
    except CorruptRecord:
        return
    # Header keys are left alone by the walk: Java takes any bytes there.
    assert decodes(bytes(payload).replace(b"\xff", b"?"), len(BASE)) or not payload.isascii()


EQUAL = [encode_record(i, i // 2, b"k%03d" % i, b"value", ()) for i in range(400)]


@given(st.data())
@settings(max_examples=300)
def test_a_mutation_inside_a_run_of_equal_records(chance: st.DataObject) -> None:
    payload = bytearray(b"".join(EQUAL))
    for _ in range(chance.draw(st.integers(1, 2))):
        payload[chance.draw(st.integers(0, len(payload) - 1))] = chance.draw(st.integers(0, 255))
    try:
        survey = survey_records(bytes(payload), len(EQUAL))
    except CorruptRecord:
        assert not decodes(bytes(payload), len(EQUAL))
        return
    pos = 0
    deltas, offsets, keyless = [], [], []
    for index in range(len(EQUAL)):
        delta, offset, key, _, _, pos = next(read_records(bytes(payload), 1, pos))
        deltas.append(delta)
        offsets.append(offset)
        if key is None:
            keyless.append(index)
    assert (survey.max_delta, survey.min_delta) == (max(deltas), min(0, *deltas))
    assert survey.dense == (offsets == list(range(len(EQUAL))))
    assert survey.first_keyless == (keyless[0] if keyless else -1)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x0d\x00\x00\x00\x01\x01\x00",  # negative length
        b"\x8c\x80\x80\x80\x80\x00\x00\x00\x00\x01\x01\x00",  # a length of six bytes
        b"\xff\xff\xff\xff\x7f\x00\x00\x00\x01\x01\x00",
        b"\x0c\x00\x00\x00\x01\x01\x01",  # -1 headers
        b"\x0c\x00\x00\x00\x01\x01\x08",  # four headers in no bytes
        b"\x10\x00\x00\x00\x01\x01\x02\x01\x00",  # a header without key
        b"\x0c\x00\x00\x00\x04\x01\x00",  # a key longer than the record
        struct.pack(">7s", b"\x80" * 7),
    ],
)
def test_malformed(payload: bytes) -> None:
    with pytest.raises(CorruptRecord):
        survey_records(payload, 1)


def test_a_plain_record_is_a_sound_one() -> None:
    """Whatever the bytes: what `is_plain_record` takes, the walk takes, and finds nothing in it."""
    plain = 0
    for seed in range(20_000):
        chance = random.Random(seed)
        key = chance.choice((None, b"", b"key", b"k" * 63, b"k" * 64))
        value = chance.choice((None, b"", b"v" * 40, b"v" * 100, b"v" * 8100, b"v" * 8200))
        record = bytearray(encode_record(0, chance.choice((0, 0, 1)), key, value, []))
        for _ in range(chance.choice((0, 0, 1, 2))):
            at = chance.randrange(min(len(record), 12))
            record[at] = chance.choice(
                (0, 1, 2, 0x40, 0x7F, 0x80, 0x81, 0xFF, chance.randrange(256))
            )
        if is_plain_record(bytes(record)):
            plain += 1
            survey = survey_records(bytes(record), 1)
            assert (survey.dense, survey.max_delta, survey.min_delta) == (True, 0, 0), seed
    assert 2000 < plain < 15_000
