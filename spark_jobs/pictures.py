"""Pictures in one style: small PNGs that need no display.

`figure(title)` makes one, `axes.grid` and labels are on; `as_png` renders it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

COLOURS: Final = ("#1f6f8b", "#e07a2f", "#5b8c3e", "#a23b5e", "#6b5ca5", "#8a7a4f", "#3d3d3d")
GOOD: Final = "#5b8c3e"
BAD: Final = "#c0392b"
OPEN: Final = "#e0a92f"
UNKNOWN: Final = "#8a8a8a"
_INCHES: Final = (9.0, 4.2)
_DPI: Final = 90
#: More series than this are drawn without a name each.
MAX_SERIES: Final = 7
#: Years 1000 to 9000 in ms: an axis of dates ends at the year 9999, and needs room beside them.
#: Microseconds taken for ms are far behind.
FIRST_MS: Final = -30_610_224_000_000
LAST_MS: Final = 221_845_392_000_000


def figure(title: str, panels: int = 1, inches: tuple[float, float] = _INCHES) -> tuple[Any, Any]:
    """(figure, axes): one axes, or an array of `panels` side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=inches, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(made)
    made.suptitle(title, fontsize=11, x=0.01, ha="left", fontweight="bold")
    axes = made.subplots(1, panels)
    for each in axes if panels > 1 else [axes]:
        each.set_axisbelow(True)
        each.grid(True, color="#dddddd", linewidth=0.7)
        each.tick_params(labelsize=8)
        for side in ("top", "right"):
            each.spines[side].set_visible(False)
    return made, axes


def label(axes: Any, x: str, y: str, title: str = "") -> None:
    """Names of the axes."""
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    if title:
        axes.set_title(title, fontsize=9, loc="left")


def legend(axes: Any) -> None:
    """A legend if there is more than one name to tell."""
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(fontsize=8, frameon=False)


def bars(axes: Any, names: Sequence[str], values: Sequence[float], colour: str = "") -> None:
    """Horizontal bars, the first on top; each with its value, for the small ones cannot be seen."""
    at = np.arange(len(names))
    drawn = axes.barh(at, values, color=colour or COLOURS[0])
    axes.bar_label(drawn, [short(value) for value in values], padding=3, fontsize=7)
    axes.margins(x=0.14)
    axes.set_yticks(at, names, fontsize=8)
    axes.invert_yaxis()


def short(value: float) -> str:
    """A number in little room: three digits from ten thousand on."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= max(size, 10_000):
            return (
                f"{value / size:,.3g}{unit}"
                if value < 999.5 * size
                else f"{value / size:,.0f}{unit}"
            )
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def stacked(
    axes: Any, names: Sequence[str], layers: Mapping[str, tuple[Sequence[float], str]]
) -> None:
    """Horizontal bars of several layers: {name: (values, colour)}; each with its sum."""
    at = np.arange(len(names))
    left = np.zeros(len(names))
    for name, (values, colour) in layers.items():
        axes.barh(at, values, left=left, color=colour, label=name)
        left = left + np.asarray(values, dtype=float)
    for y, total in zip(at, left.tolist(), strict=True):
        axes.text(total, y, f" {short(total)}", va="center", fontsize=7)
    axes.set_xlim(0, 1.14 * max(left, default=0.0) or 1)
    axes.set_yticks(at, names, fontsize=8)
    axes.invert_yaxis()
    legend(axes)


def times(values_ms: Iterable[int]) -> list[datetime]:
    """Times of Kafka (ms) for an axis."""
    return [datetime.fromtimestamp(value / 1000, UTC) for value in values_ms]


def has_date(value_ms: int | None) -> bool:
    """Whether an axis of dates can show it."""
    return value_ms is not None and FIRST_MS <= value_ms < LAST_MS


def time_axis(axes: Any, values_ms: Sequence[int], room_ms: int = 1000) -> None:
    """The x axis for these times: all in sight, with at least `room_ms` beside them, and with the
    year, month and day they are of."""
    from matplotlib import dates as untyped

    dates: Any = untyped
    if values_ms:
        low, high = min(values_ms), max(values_ms)
        room = max(room_ms, (high - low) // 30)
        axes.set_xlim(*times([low - room, high + room]))
    locator = dates.AutoDateLocator(tz=UTC, minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=UTC))
    axes.xaxis.get_offset_text().set_fontsize(8)


def as_png(made: Any) -> bytes:
    """The picture's file."""
    buffer = io.BytesIO()
    made.savefig(buffer, format="png", pil_kwargs={"optimize": True})
    return buffer.getvalue()
