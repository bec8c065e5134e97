"""Headers: the table and the single header say the same of every batch."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from pykbroker.offline.batch_headers import (
    chosen,
    framing_fault,
    gather,
    header_at,
    header_fault,
    possible,
    table_of,
    walk,
)
from pykbroker.protocol.record_batch import HEADER, BatchHeader, read_header
from tests.offline.samples import odd_batches, simple_batches


def test_the_table_has_the_fields_of_each_header():
    batches = odd_batches(3, 10)
    buffer = bytearray(b"".join(batches))
    positions, used = walk(buffer, len(buffer))
    assert used == len(buffer)
    table = gather(np.frombuffer(buffer, np.uint8), np.array(positions))
    for index, batch in enumerate(batches):
        assert repr(header_at(table, index)) == repr(read_header(batch))
    alone = b"".join(batch[:61] for batch in batches)
    assert (table_of(alone) == table).all()
    assert (gather(np.frombuffer(alone, np.uint8), np.arange(10) * 61) == table).all()
    some = np.array([7, 2, 2])
    assert (chosen(table, some) == table[some]).all()
    assert chosen(table[3:5], np.array([1])).tolist() == [table[4].item()]


@pytest.mark.parametrize("filled", [0, 5, 60, 61, 470, 480, 2000])
def test_walking_only_what_is_there(filled: int):
    batches = simple_batches(10)
    buffer = bytearray(b"".join(batches))
    size = len(batches[0])
    whole = filled // size
    assert walk(buffer, filled) == ([n * size for n in range(whole)], whole * size)


def test_possible_is_what_no_fault_is_found_in():
    chance = random.Random(1)
    fields = {
        "magic": [2, 2, 2, 1, -1],
        "attributes": [0, 4, 5, 7, 0x78, -1],
        "delta": [-1, 0, 9, -5, 2**31 - 1],
        "count": [0, 1, 10, -1, 2**31 - 1],
        "base": [0, 5, -1, 2**63 - 1, 2**63 - 10, -(2**63)],
    }
    heads = []
    for _ in range(2000):
        pick = {name: chance.choice(values) for name, values in fields.items()}
        heads.append(
            HEADER.pack(
                pick["base"], 49, 0, pick["magic"], 0, pick["attributes"], pick["delta"],
                0, 0, -1, -1, -1, pick["count"],
            )
        )  # fmt: skip
    sane = possible(table_of(b"".join(heads))).tolist()
    single = [header_fault(BatchHeader(*HEADER.unpack(head))) is None for head in heads]
    assert sane == single
    assert 50 < sum(sane) < 1500


def test_framing():
    (batch,) = simple_batches(1)
    assert framing_fault(batch[:61], len(batch)) == (len(batch), None)
    assert framing_fault(batch[:61], len(batch) - 1)[1] == (
        f"record batch of {len(batch)} bytes, only {len(batch) - 1} are there"
    )
    assert framing_fault(batch[:20], 20)[1] == "20 bytes are too few for a record batch"
    assert framing_fault(b"", 1000)[1] == "0 bytes are too few for a record batch"
    short = struct.pack(">qiib", 0, 48, 0, 2) + bytes(44)
    assert framing_fault(short, 1000)[1] == "record batch of 60 bytes, less than its header"
    old = struct.pack(">qiIb", 0, 48, 0, 1) + bytes(44)
    assert framing_fault(old, 1000)[1] == "record batch of magic 1"
    assert framing_fault(old[:60], 60)[1] == "record batch of magic 1"
