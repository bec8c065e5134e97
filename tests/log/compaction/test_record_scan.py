"""pykbroker.log.compaction.record_scan against the plain record decoder."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pykbroker.log.compaction.record_scan import scan_keys, scan_records
from pykbroker.protocol.record import CorruptRecord, encode_record, read_records, read_varint

RECORDS = st.lists(
    st.tuples(
        st.integers(0, 9000),
        st.integers(-(2**40), 2**40) | st.integers(0, 300),
        st.none() | st.binary(max_size=90),
        st.none() | st.binary(max_size=90),
        st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
    ),
    max_size=9,
)


@given(RECORDS)
def test_finds_what_the_decoder_finds(
    records: list[tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]],
) -> None:
    payload = b"".join(encode_record(*record) for record in records)
    placed = scan_records(payload, len(records))
    assert [(delta, key) for _, _, _, delta, key, _ in placed] == [
        (delta, key) for delta, _, key, _, _ in records
    ]
    for (start, end, time_at, _, _, value_at), record in zip(placed, records, strict=True):
        assert payload[start:end] == encode_record(*record)
        assert read_varint(payload, time_at)[0] == record[1]
        value = record[3]
        assert read_varint(payload, value_at)[0] == (-1 if value is None else len(value))
    keyed = [(key, delta) for delta, _, key, _, _ in records if key is not None]
    assert scan_keys(payload, len(records)) == (
        [key for key, _ in keyed],
        [delta for _, delta in keyed],
    )
    for wrong in {len(records) - 1, len(records) + 1} - {-1}:
        for scan in (scan_records, scan_keys):
            with pytest.raises(CorruptRecord):
                scan(payload, wrong)


BASE = b"".join(encode_record(i, i, b"key%d" % i, b"v" * i) for i in range(12))


@given(st.data())
@settings(max_examples=200)
def test_mutations(chance: st.DataObject) -> None:
    payload = bytearray(BASE)
    for _ in range(chance.draw(st.integers(1, 3))):
        payload[chance.draw(st.integers(0, len(payload) - 1))] = chance.draw(st.integers(0, 255))
    try:
        placed = scan_records(bytes(payload), 12)
    except CorruptRecord:
        with pytest.raises((CorruptRecord, IndexError, UnicodeDecodeError)):
            decode_all(bytes(payload))
        return
    assert placed[-1][1] == len(payload)
    assert scan_keys(bytes(payload), 12)[0] == [row[4] for row in placed if row[4] is not None]


def decode_all(payload: bytes) -> None:
    pos = 0
    for _ in range(12):
        pos = next(read_records(payload, 1, pos))[5]
    if pos != len(payload):
        raise CorruptRecord("bytes left")
