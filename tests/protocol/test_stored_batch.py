"""Batches of any magic, one behind the other."""

from __future__ import annotations

import pytest

from pykbroker.protocol.compression import GZIP
from pykbroker.protocol.record import CorruptBatch
from pykbroker.protocol.record_batch import build_batch
from pykbroker.protocol.stored_batch import (
    first_offset,
    has_right_crc,
    iter_stored,
    read_stored_header,
    stored_records,
)
from tests.harness.old_messages import OLD_MS, Old, compressed, message

PLAIN = message(0, Old(b"a", b"0"), magic=0)
WRAPPER = compressed(1, [Old(b"b", b"1"), Old(b"c", b"2")], magic=1, codec=GZIP)
NEW = bytes(build_batch([(b"d", b"3", OLD_MS, ()), (b"e", b"4", OLD_MS, ())], base_offset=3))
MIXED = PLAIN + WRAPPER + NEW


def test_old_and_new_together() -> None:
    found = list(iter_stored(MIXED))
    assert [bytes(batch) for _, batch in found] == [PLAIN, WRAPPER, NEW]
    assert [header.magic for header, _ in found] == [0, 1, 2]
    assert [header.last_offset for header, _ in found] == [0, 2, 4]
    assert all(has_right_crc(batch, header) for header, batch in found)
    records = [record for header, batch in found for record in stored_records(batch, header)]
    assert [record.offset for record in records] == [0, 1, 2, 3, 4]
    assert [record.key for record in records] == [b"a", b"b", b"c", b"d", b"e"]
    assert [first_offset(batch, header) for header, batch in found] == [0, 1, 3]


@pytest.mark.parametrize("raw", [PLAIN, WRAPPER, NEW])
def test_checksums(raw: bytes) -> None:
    broken = raw[:-1] + bytes([raw[-1] ^ 1])
    assert not has_right_crc(broken, read_stored_header(broken))


def test_a_cut_off_last_batch() -> None:
    for cut in range(1, len(NEW)):
        assert len(list(iter_stored(MIXED[:-cut], partial_tail=True))) == 2
    for cut in range(1, len(PLAIN)):
        assert list(iter_stored(PLAIN[:-cut], partial_tail=True)) == []
        with pytest.raises(CorruptBatch):
            list(iter_stored(PLAIN[:-cut]))


def test_neither_old_nor_new() -> None:
    for magic in (3, 255):
        with pytest.raises(CorruptBatch, match="magic"):
            read_stored_header(NEW[:16] + bytes([magic]) + NEW[17:])


def test_the_first_offset_of_what_cannot_be_read() -> None:
    raw = message(9, Old(None, b"not gzip"), magic=1, attributes=GZIP)
    assert first_offset(raw, read_stored_header(raw)) == 9
