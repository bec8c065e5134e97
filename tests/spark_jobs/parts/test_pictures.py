"""The parts of pictures."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import matplotlib.image
import pytest

from spark_jobs.parts import pictures


def test_a_picture():
    made, (left, right) = pictures.figure("Title", panels=2)
    pictures.bars(left, ["a", "b"], [1, 2])
    pictures.stacked(right, ["a"], {"good": ([1], pictures.GOOD), "bad": ([2], pictures.BAD)})
    pictures.label(right, "x", "y", "what")
    payload = pictures.as_png(made)
    image = matplotlib.image.imread(io.BytesIO(payload), "png")
    assert image.shape[:2] == (378, 810)
    assert image.std() > 0.05  # not blank
    assert [each.get_text() for each in left.get_yticklabels()] == ["a", "b"]
    assert [each.get_text() for each in left.texts] == ["1", "2"]
    assert [each.get_text() for each in right.texts] == ["3"]
    assert [each.get_width() for each in right.patches] == [1, 2]
    assert right.patches[1].get_x() == 1


@pytest.mark.parametrize(
    "value,expected",
    [
        (0, "0"),
        (9999, "9,999"),
        (12_345, "12.3k"),
        (999_900, "1,000k"),
        (336_776, "337k"),
        (1_000_000, "1M"),
        (2_500_000_000_000, "2,500G"),
        (0.12345, "0.123"),
        (0.0, "0"),
        (99.96, "100"),
        (4321.0, "4,321"),
        (812.7, "813"),
    ],
)
def test_numbers_in_little_room(value: float, expected: str):
    assert pictures.short(value) == expected


def test_one_axes_and_no_legend_for_one_name():
    _, axes = pictures.figure("Title")
    axes.plot([1], [1], label="only")
    pictures.legend(axes)
    assert axes.get_legend() is None


@pytest.mark.parametrize("value_ms", [0, 1_357_034_400_000])
def test_times(value_ms: int):
    (found,) = pictures.times([value_ms])
    assert found == datetime.fromtimestamp(value_ms / 1000, UTC)


def test_what_has_a_date():
    micros = 1_700_000_000_000_000
    assert [pictures.has_date(each) for each in (0, 1_357_034_400_000, micros, 1 << 61, None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    made, axes = pictures.figure("Title")
    limits = [pictures.FIRST_MS, pictures.LAST_MS - 1]
    axes.plot(pictures.times(limits), [1, 2])
    pictures.time_axis(axes, limits)
    assert pictures.as_png(made).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "value,expected",
    [(0, "0 B"), (999, "999 B"), (62_345, "62.3 kB"), (999_900, "1 MB"), (36.7e6, "36.7 MB")],
)
def test_bytes(value: float, expected: str):
    assert pictures.size(value) == expected


@pytest.mark.parametrize(
    "value,expected",
    [
        (0.1, "0.1 ms"),
        (250, "250 ms"),
        (12_300, "12.3 s"),
        (600_000, "10 min"),
        (86_400_000, "1 day"),
        (108_000_000, "30 h"),
        (28_900_000_000, "334 days"),
        (31_536_000_000, "1 year"),
        (10**15, "31,710 years"),
    ],
)
def test_durations(value: float, expected: str):
    assert pictures.duration(value) == expected


def test_shares():
    found = [pictures.percent(value) for value in (0, 1e-9, 0.2, 79.64, 99.99, 100)]
    assert found == ["0 %", "< 0.001 %", "0.2 %", "79.6 %", "> 99.9 %", "100 %"]


def test_names_are_cut_in_the_middle():
    assert pictures.cut("short") == "short"
    assert pictures.cut("abcdefghijklmnop", 7) == "abc…nop"
    assert len(pictures.cut("x" * 300)) == 26


def test_the_others_are_more_than_one():
    assert pictures.ranked({"a": 1, "b": 3, "c": 3}, 3) == (["b", "c", "a"], [])
    assert pictures.ranked({"a": 1, "b": 3, "c": 2, "d": 0}, 3) == (["b", "c"], ["a", "d"])
