"""pykbroker.log.segments.txn_index against Apache's file and a plain model."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykbroker.log.segments.txn_index import AbortedTxn, CorruptTransactionIndex, TransactionIndex

APACHE = Path(__file__).parents[2] / "fixtures" / "apache"
ABORTED = [AbortedTxn(4242, 1100, 1200, 1150), AbortedTxn(4243, 1150, 1300, 1301)]


def test_apaches_file_both_ways() -> None:
    payload = (APACHE / "00000000000000001000.txnindex").read_bytes()
    index = TransactionIndex(1000, payload)
    assert list(index) == ABORTED
    assert index.check() is None
    assert (index.last_offset, index.size_bytes) == (1300, 68)
    again = TransactionIndex(1000)
    assert again.last_offset == -1
    assert b"".join(map(again.append, ABORTED)) == payload
    assert again.to_bytes() == payload


def test_collecting() -> None:
    index = TransactionIndex(1000, b"".join(map(TransactionIndex(0).append, ABORTED)))
    assert index.collect(1000, 1050) == ([], True)
    assert index.collect(1000, 1120) == (ABORTED[:1], True)
    assert index.collect(1250, 1260) == (ABORTED[1:], True)
    assert index.collect(1000, 2000) == (ABORTED, False)


@given(st.lists(st.integers(1, 20), max_size=20), st.integers(0, 300))
def test_truncation(steps: list[int], cut: int) -> None:
    index = TransactionIndex(0)
    model = []
    offset = 0
    for step in steps:
        offset += step
        model.append(AbortedTxn(1, offset - 1, offset, offset + 1))
        index.append(model[-1])
    index.truncate_to(cut)
    assert list(index) == [aborted for aborted in model if aborted.last_offset < cut]


def test_damage() -> None:
    payload = b"".join(map(TransactionIndex(0).append, ABORTED))
    assert "complete entries" in str(TransactionIndex(1000, payload[:-1]).check())
    assert list(TransactionIndex(1000, payload[:-1])) == ABORTED[:1]
    assert "out of order" in str(TransactionIndex(5000, payload).check())
    assert "out of order" in str(TransactionIndex(1000, payload[34:] + payload[:34]).check())
    foreign = TransactionIndex(1000, b"\xff\xff" + payload[2:])
    assert "version -1" in str(foreign.check())
    with pytest.raises(CorruptTransactionIndex):
        foreign.collect(0, 1)
    with pytest.raises(ValueError, match="not above"):
        TransactionIndex(0, payload).append(ABORTED[0])
