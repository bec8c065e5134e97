"""The picture of a comparison: every row has its bar, its ratio and its target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from benchmarks.picture import draw, main
from tests.spark_jobs.picture_checks import check_texts, texts_of

CIRCUMSTANCES = {
    "machine": "2 processors (some model with a long name, 3.1 GHz), 24 GiB",
    "versions": "Apache Kafka 4.4.0, CPython 3.11.7, Java 17.0.15",
    "commit": "0123abc with changes",
    "day": "2026-11-30",
}


def figures(*rows: tuple[str, list[float], float | None]) -> dict[str, Any]:
    return {
        "circumstances": CIRCUMSTANCES,
        "rows": [
            {"row": name, "ratio": sorted(ratios)[len(ratios) // 2], "ratios": ratios, "goal": goal}
            for name, ratios, goal in rows
        ],
    }


MIXED = figures(
    ("start to first acknowledged produce", [20.0, 15.9, 17.3], 1.0),
    ("raw offset commit, 50 connections", [0.74, 0.80, 0.82], 1.0),
    ("Java ConsumerPerformance, 100 B", [0.97, 1.0, 1.16], None),
)


@pytest.mark.parametrize("count", [1, 3, 32])
def test_all_texts_can_be_read(count: int) -> None:
    rows = [(f"row {number} of many connections", [0.5, 4.0, 90.0], 1.2) for number in range(count)]
    made = draw(figures(*rows))
    check_texts(made)
    told = texts_of(made)
    assert told.count("4.00") == count
    assert any("commit 0123abc with changes, 2026-11-30" in text for text in told)
    assert any("Apache Kafka 4.4.0" in text for text in told)


def test_a_bar_reaches_from_one_to_the_ratio() -> None:
    made = draw(MIXED)
    (axes,) = made.axes
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    assert ends == [(1, pytest.approx(17.3)), (1, pytest.approx(0.80)), (1, 1)]
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        row["row"] for row in MIXED["rows"]
    ]
    low, high = axes.get_xlim()
    assert low < 0.74
    assert high > 20


def test_the_program_writes_a_picture(tmp_path: Path) -> None:
    source, target = tmp_path / "figures.json", tmp_path / "picture.png"
    source.write_text(json.dumps(MIXED))
    assert main([str(source), str(target), "--title", "Three rows"]) == 0
    assert matplotlib.image.imread(target, "png").std() > 0.05  # not blank


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"circumstances": {}, "rows": []}', '{"rows": [{"row": "a"}]}']
)
def test_a_file_without_figures_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "figures.json", tmp_path / "picture.png"
    source.write_text(content)
    with pytest.raises(SystemExit):
        main([str(source), str(target)])
    assert f"{source} has no figures to draw" in capsys.readouterr().err
    assert not target.exists()
