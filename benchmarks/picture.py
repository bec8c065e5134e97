"""The rows of a comparison as a picture: a bar for each, right of 1 where pykbroker is ahead.

    python -m benchmarks.picture [--title TEXT] FIGURES PICTURE

FIGURES is what `--json FILE` of `compare`, `transactions` or `cluster` wrote, PICTURE the PNG to
write. Each bar ends at the median ratio; the line on it spans the ratios of the rounds, and a mark
shows the target. The caption says where and when the figures were taken.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.command_line import parser_for
from spark_jobs.parts import pictures

TITLE: Final = "pykbroker compared with Apache Kafka: above 1 is better than Apache"

_ROW_INCHES: Final = 0.23
_OTHER_INCHES: Final = 1.5
_WIDTH_INCHES: Final = 9.0
_DARK: Final = "#3d3d3d"
_TICKS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def draw(figures: Mapping[str, Any], title: str = TITLE) -> Any:
    """Return the figure of what a file of figures contains. ValueError if nothing is compared."""
    rows = [row for row in figures["rows"] if "ratios" in row]
    if not rows:
        raise ValueError("no row compares two servers")
    height = _OTHER_INCHES + _ROW_INCHES * len(rows)
    made, axes = pictures.figure(title, inches=(_WIDTH_INCHES, height))
    ratios = [ratio for row in rows for ratio in row["ratios"]]
    pictures.log_scale(axes, _ratio, min(0.7, *ratios) * 0.9, max(2.0, *ratios) * 1.3, ticks=_TICKS)
    for place, row in enumerate(rows):
        _draw_row(axes, place, row)
    axes.axvline(1, color=_DARK, linewidth=1, zorder=1.5)
    axes.set_yticks(range(len(rows)), [row["row"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(False, axis="y")
    pictures.label(axes, "\n".join(_caption(figures["circumstances"])), "")
    return made


def _draw_row(axes: Any, place: int, row: Mapping[str, Any]) -> None:
    ratio, low, high = row["ratio"], min(row["ratios"]), max(row["ratios"])
    colour = pictures.GOOD if ratio >= 1 else pictures.BAD
    axes.barh(place, ratio - 1, 0.66, left=1, color=colour)
    axes.hlines(place, low, high, color=_DARK, linewidth=1)
    if row["goal"]:
        axes.vlines(row["goal"], place - 0.4, place + 0.4, color=pictures.OPEN, linewidth=2)
    axes.annotate(
        f"{ratio:.2f}",
        (max(1.0, high), place),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )


def _ratio(value: float) -> str:
    return f"{value:g}"


def _caption(circumstances: Mapping[str, str]) -> list[str]:
    return [
        "median of the ratios (bar), ratios of the rounds (line), target (mark)",
        f"{circumstances['machine']}; {circumstances['versions']}",
        f"commit {circumstances['commit']}, {circumstances['day']}",
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Draw a file of figures."""
    parser = parser_for("benchmarks.picture", __doc__ or "")
    parser.add_argument("figures", metavar="FIGURES", type=Path, help="what --json wrote")
    parser.add_argument("picture", metavar="PICTURE", type=Path, help="the PNG to write")
    parser.add_argument("--title", default=TITLE, help="the line above it (default: %(default)s)")
    arguments = parser.parse_args(words)
    try:
        made = draw(json.loads(arguments.figures.read_text()), arguments.title)
    except (OSError, ValueError, KeyError, TypeError) as fault:
        parser.error(f"{arguments.figures} has no figures to draw: {fault}")
    arguments.picture.write_bytes(pictures.as_png(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
