"""Arrow arrays cut out of an area."""

from __future__ import annotations

import numpy as np

from pykbroker.offline.arrow_columns import constant_text, slices

NONE = np.zeros(2, np.bool_)


def test_slices_of_an_area():
    area = bytearray(b"..aabbb..c.dddd....")
    first = (np.array([2, 9]), np.array([4, 10]), NONE)
    second = (np.array([4, 11]), np.array([7, 15]), np.array([False, True]))
    names, values = slices(area, [first, second])
    assert names.to_pylist() == [b"aa", b"c"]
    assert values.to_pylist() == [b"bbb", None]
    (alone,) = slices(area, [second])
    assert alone.equals(values)
    area[2:4] = b"zz"  # the area is reused: what was cut out is a copy
    assert names.to_pylist() == [b"aa", b"c"]


def test_slices_of_nothing():
    empty = np.array([], np.int64)
    (found,) = slices(bytearray(), [(empty, empty, empty.astype(np.bool_))])
    assert found.to_pylist() == []


def test_constant_text():
    assert constant_text("topic", 3).to_pylist() == ["topic"] * 3
    assert constant_text("", 2).to_pylist() == ["", ""]
    assert constant_text("x", 0).to_pylist() == []
