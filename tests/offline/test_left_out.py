"""What was left out: counted whole, kept within bounds."""

from __future__ import annotations

import pytest

from pykbroker.offline import left_out as module
from pykbroker.offline.left_out import LeftOut
from pykbroker.offline.split import Corruption


def noted(*raws: bytes | None) -> LeftOut:
    left_out = LeftOut()
    for number, raw in enumerate(raws):
        left_out.note(Corruption("t", 0, "/t-0/0.log", 0, number, 100, None, None, "odd", raw))
    return left_out


def test_rows_stay_when_their_bytes_do_not_fit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_RAW_TOTAL", 10)
    left_out = noted(b"x" * 8, b"y" * 3, None, b"z" * 2, b"z")
    assert [each.raw for each in left_out.kept] == [b"x" * 8, None, None, b"z" * 2, None]
    assert [each.position for each in left_out.kept] == list(range(5))
    assert (left_out.batches, left_out.bytes, left_out.kept_bytes) == (5, 500, 500)


def test_all_are_counted_where_rows_do_not_fit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_CORRUPTIONS", 3)
    left_out = noted(*[b"x"] * 7)
    assert [each.position for each in left_out.kept] == [0, 1, 2]
    assert (left_out.batches, left_out.bytes, left_out.kept_bytes) == (7, 700, 300)
