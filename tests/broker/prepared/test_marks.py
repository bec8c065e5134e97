"""Marks are found where the encoder has put them."""

from __future__ import annotations

import pytest

from pykbroker.broker.prepared.marks import MARK_BYTES, encoded_mark, marks, positions_of


def test_marks_are_found_in_their_order_and_may_be_missing() -> None:
    wanted = marks(4)
    sample = (
        b"head" + encoded_mark(wanted[0]) + encoded_mark(wanted[2]) + b"." + encoded_mark(wanted[3])
    )
    assert positions_of(wanted, sample) == [(4, 0), (12, 2), (21, 3)]
    assert positions_of(wanted, b"none") == []


def test_other_marks_are_other_numbers() -> None:
    first = marks(300)
    second = marks(2, after=first)
    assert not set(first) & set(second)
    assert positions_of(second, b"".join(map(encoded_mark, [*first, *second]))) == [
        (300 * MARK_BYTES, 0),
        (301 * MARK_BYTES, 1),
    ]


def test_no_text_contains_a_mark() -> None:
    with pytest.raises(UnicodeDecodeError):
        encoded_mark(marks(1)[0]).decode()
