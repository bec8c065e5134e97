"""Pictures in one style: small PNGs that need no display.

`figure(title)` makes one; `as_png` renders it. Numbers for people: `short` (counts), `size`
(bytes), `duration` (milliseconds); `scale` has an axis speak so. `ranked` chooses what there is
room for, `cut` shortens a name.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
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
#: And more bars than this are one: the others.
MAX_BARS: Final = 12
#: Fewer bars are no thicker than those of so many.
_MIN_BARS: Final = 6
_TITLE_LETTERS: Final = 92
_NAME_LETTERS: Final = 26
_ON_WHITE: Final = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
#: Durations that an axis names, in ms.
_SECOND: Final = 1000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY
_ROUND_TIMES: Final = (
    *(
        0.001,
        0.01,
        0.1,
        1,
        10,
        100,
        _SECOND,
        10 * _SECOND,
        _MINUTE,
        10 * _MINUTE,
        _HOUR,
        6 * _HOUR,
        _DAY,
    ),
    *(7 * _DAY, 30 * _DAY, _YEAR, 10 * _YEAR, 100 * _YEAR, 1000 * _YEAR),
)
#: Years 1000 to 9000 in ms: an axis of dates ends at the year 9999, and needs room beside them.
#: Microseconds taken for ms are far behind.
FIRST_MS: Final = -30_610_224_000_000
LAST_MS: Final = 221_845_392_000_000


def figure(title: str, panels: int = 1, inches: tuple[float, float] = _INCHES) -> tuple[Any, Any]:
    """Return (figure, axes): one axes, or an array of `panels` side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=inches, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(made)
    made.suptitle(
        textwrap.fill(title, _TITLE_LETTERS), fontsize=11, x=0.01, ha="left", fontweight="bold"
    )
    axes = made.subplots(1, panels)
    for each in axes if panels > 1 else [axes]:
        each.set_axisbelow(True)
        each.grid(True, color="#dddddd", linewidth=0.7)
        each.tick_params(labelsize=8)
        for side in ("top", "right"):
            each.spines[side].set_visible(False)
    return made, axes


def label(axes: Any, x: str, y: str, title: str = "") -> None:
    """Label the axes."""
    if x:
        axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    if title:
        axes.set_title(title, fontsize=9, loc="left")


def legend(axes: Any) -> None:
    """Add a legend below the axes, where it covers nothing, if there is more than one name."""
    handles, names = axes.get_legend_handles_labels()
    if len(names) > 1:
        columns = 5 if max(map(len, names)) < 16 else 3
        style = {"fontsize": 8, "frameon": False, "ncols": min(len(names), columns)}
        axes.figure.legend(
            handles, [cut(name, 40) for name in names], loc="outside lower center", **style
        )


def bars(
    axes: Any,
    names: Sequence[str],
    values: Sequence[float],
    colour: str = "",
    told: Callable[[float], str] | None = None,
) -> None:
    """Draw horizontal bars, the first on top; each with its value, because small ones are
    invisible.
    """
    layers = {"": (values, colour or COLOURS[0])}
    stacked(axes, names, layers, told=told)


def stacked(
    axes: Any,
    names: Sequence[str],
    layers: Mapping[str, tuple[Sequence[float], str]],
    notes: Sequence[str] = (),
    told: Callable[[float], str] | None = None,
) -> None:
    """Horizontal bars of several layers: {name: (values, colour)}; each with its note, or else its
    sum, behind it."""
    told = told or short
    at = np.arange(len(names))
    left = np.zeros(len(names))
    for name, (values, colour) in layers.items():
        axes.barh(at, values, 0.75, left=left, color=colour, label=name)
        left = left + np.asarray(values, dtype=float)
    texts = list(notes) or [told(total) for total in left.tolist()]
    for y, total, text in zip(at, left.tolist(), texts, strict=True):
        style = {"xytext": (3, 0), "textcoords": "offset points", "bbox": _ON_WHITE}
        axes.annotate(text, (total, y), va="center", fontsize=8, **style)
    # A letter is some six pixels wide; the axes are as wide as panels leave it.
    width = axes.figure.get_figwidth() * _DPI / max(1, len(axes.figure.axes))
    room = min(0.6, (8 + 6 * max(map(len, texts), default=0)) / (0.72 * width))
    axes.set_xlim(0, max(left, default=0.0) / (1 - room) or 1)
    scale(axes.xaxis, told)
    axes.set_yticks(at, list(map(cut, names)), fontsize=8)
    middle, half = (len(names) - 1) / 2, max(len(names), _MIN_BARS) / 2
    axes.set_ylim(middle + half, middle - half)
    axes.grid(False, axis="y")


def ranked(totals: Mapping[str, float], most: int = MAX_BARS) -> tuple[list[str], list[str]]:
    """Return the names with the most, the largest first, and the others: none, or more than one."""
    names = sorted(totals, key=lambda name: (-totals[name], name))
    if len(names) <= most:
        return names, []
    return names[: most - 1], names[most - 1 :]


def with_others(totals: Mapping[str, float]) -> dict[str, list[str]]:
    """What is behind each bar: one name, the largest first, and at the end all others."""
    shown, others = ranked(totals)
    found = {name: [name] for name in shown}
    if others:
        found[f"{len(others)} others"] = others
    return found


def cut(name: str, letters: int = _NAME_LETTERS) -> str:
    """Shorten a long name in the middle: both ends are more informative."""
    if len(name) <= letters:
        return name
    half = (letters - 1) // 2
    return f"{name[: letters - 1 - half]}…{name[-half:]}"


def short(value: float) -> str:
    """Format a number briefly: three digits from ten thousand on."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= max(factor, 10_000):
            return f"{_three_digits(value / factor)}{unit}"
    return _three_digits(value)


def size(value: float) -> str:
    """Format bytes with a suitable unit."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(value) >= factor * 0.9995:
            return f"{_three_digits(value / factor)} {unit}"
    return f"{_three_digits(value)} B"


def duration(value_ms: float) -> str:
    """Format milliseconds with a suitable unit."""
    for factor, unit, least in (
        (_YEAR, "year", 2 * _YEAR),
        (_DAY, "day", 2 * _DAY),
        (_HOUR, "h", _HOUR),
        (_MINUTE, "min", _MINUTE),
        (_SECOND, "s", _SECOND),
    ):
        if value_ms >= least or value_ms == factor:
            text = _three_digits(value_ms / factor)
            return f"{text} {unit}{'s' if len(unit) > 2 and unit != 'min' and text != '1' else ''}"
    return f"{_three_digits(value_ms)} ms"


def percent(value: float) -> str:
    """Format a share of 100; 0 and 100 are printed only if exact."""
    if 99.9 < value < 100:
        return "> 99.9 %"
    return "< 0.001 %" if 0 < value < 0.001 else f"{value:.3g} %"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def scale(axis: Any, told: Callable[[float], str]) -> None:
    """Set few ticks, formatted by `told`."""
    from matplotlib import ticker as untyped

    ticker: Any = untyped
    # Nothing is between two records, or two bytes.
    style = {"steps": [1, 2, 2.5, 5, 10], "integer": told in (short, size), "min_n_ticks": 1}
    axis.set_major_locator(ticker.MaxNLocator(nbins=5, **style))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: told(value)))


def log_scale(
    axes: Any, told: Callable[[float], str], low: float, high: float, ticks: Sequence[float] = ()
) -> None:
    """Set a logarithmic x axis from `low` to `high`, with few ticks, formatted by `told`."""
    from matplotlib import ticker as untyped

    ticker: Any = untyped
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    # All of the powers of ten, or only some: with 2 and 5 between them if they are few.
    powers = [10.0**n for n in range(-6, 19)]
    if not ticks:
        few = sum(low <= each <= high for each in powers) < 3
        ticks = [each * n for each in powers for n in ((1, 2, 5) if few else (1,))]
    there = [each for each in ticks if low <= each <= high]
    axes.xaxis.set_major_locator(ticker.FixedLocator(there[:: -(-len(there) // 7) or 1]))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: told(value)))


def duration_scale(axes: Any, values_ms: Sequence[float]) -> None:
    """Set a logarithmic x axis for milliseconds, formatted as seconds, hours, days."""
    low, high = (max(0.001, each) for each in (min(values_ms), max(values_ms)))
    log_scale(axes, duration, low * 0.8, high * 1.25, _ROUND_TIMES)


def day(value_ms: int) -> str:
    """Return the day of a Kafka timestamp, in UTC."""
    return f"{times([value_ms])[0]:%Y-%m-%d}"


def days(first_ms: int, last_ms: int) -> str:
    """From day to day."""
    first, last = day(first_ms), day(last_ms)
    return first if first == last else f"{first} to {last}"


def times(values_ms: Iterable[int]) -> list[datetime]:
    """Convert Kafka timestamps (ms) for an axis."""
    return [datetime.fromtimestamp(value / 1000, UTC) for value in values_ms]


def has_date(value_ms: int | None) -> bool:
    """Return whether an axis of dates can show it."""
    return value_ms is not None and FIRST_MS <= value_ms < LAST_MS


def time_axis(axes: Any, values_ms: Sequence[int], room_ms: int = 1000, name: str = "") -> None:
    """The x axis for these times: all in sight, with at least `room_ms` beside them, and with the
    year, month and day they are of: below `name` if there is one, else in a corner."""
    from matplotlib import dates as untyped

    dates: Any = untyped
    if values_ms:
        low, high = min(values_ms), max(values_ms)
        room = max(room_ms, (high - low) // 30)
        axes.set_xlim(*times([low - room, high + room]))
    most = 9 if len(axes.figure.axes) == 1 else 5
    locator = dates.AutoDateLocator(tz=UTC, minticks=3, maxticks=most)
    axes.xaxis.set_major_locator(locator)
    formats = ["%Y", "%b", "%d", "%H:%M", "%H:%M", "%H:%M:%S.%f"]
    zeros = ["", "%Y", "%b", "%b-%d", "%H:%M", "%H:%M:%S"]
    style = {"formats": formats, "zero_formats": zeros, "show_offset": not name}
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=UTC, **style))
    axes.xaxis.get_offset_text().set_fontsize(8)
    if name and values_ms:
        name = f"{name}, {days(min(values_ms), max(values_ms))}"
    if name:
        axes.set_xlabel(f"{name} (UTC)", fontsize=9)


def as_png(made: Any) -> bytes:
    """Return the picture as a PNG file."""
    buffer = io.BytesIO()
    made.savefig(buffer, format="png", pil_kwargs={"optimize": True})
    return buffer.getvalue()
