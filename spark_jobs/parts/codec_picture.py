"""The picture of codec_what_if: what codecs, levels and sizes of batches save, and how fast."""

from __future__ import annotations

from typing import Any, Final

from pykbroker.protocol.compression import CODEC_IDS
from spark_jobs.parts import pictures

#: One for each size of batches; of more sizes only the first and the last ones are drawn.
_MARKERS: Final = "osD^vPX"
_INCHES: Final = (9.0, 4.6)
#: Numbers of levels need so much room, in pixels.
_ROOM: Final = (16.0, 11.0)


def draw_codecs(
    topic: str, rows: list[dict[str, Any]], stored: float | None, topics: int = 1
) -> Any:
    """`rows` of one topic, of so many; `stored` is the ratio of what is there now."""
    made, axes = pictures.figure(_title(topic, rows, stored, topics), inches=_INCHES)
    sizes = shown_sizes(rows)
    codecs = sorted({row["codec"] for row in rows}, key=CODEC_IDS.__getitem__)
    for codec in codecs:
        for size, marker in sizes.items():
            points = [row for row in rows if (row["codec"], row["batch_bytes"]) == (codec, size)]
            points.sort(key=lambda row: -row["encode_mb_per_second"])
            axes.plot(*_coordinates(points), marker, ls=":", color=_colour(codec), ms=6)
    speeds = [row["encode_mb_per_second"] for row in rows]
    pictures.log_scale(axes, pictures.short, min(speeds) / 1.5, max(speeds) * 1.5)
    if stored is not None:
        axes.axhline(stored, color="#888888", linewidth=0.8)
    axes.margins(y=0.15)
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    pictures.scale(axes.yaxis, _times)
    _label_levels(axes, [row for row in rows if row["batch_bytes"] in sizes])
    _legends(made, codecs, sizes, stored)
    below = "speed: MB/s that one core encodes; the numbers are levels"
    pictures.label(
        axes, f"{below}  (faster →)", "uncompressed size / stored size  (smaller files →)"
    )
    return made


def _title(topic: str, rows: list[dict[str, Any]], stored: float | None, topics: int) -> str:
    """Return what the best codec would save, and what is stored now."""
    best = max(rows, key=lambda row: row["ratio"])
    level = "" if best["level"] is None else f" {best['level']}"
    few = f" (the largest of {topics} topics)" if topics > 1 else ""
    title = (
        f"Samples of {pictures.cut(topic, 40)}{few}: {best['codec']}{level} stores least, "
        f"1/{best['ratio']:.3g} of their size"
    )
    return title if stored is None else f"{title}; stored now: 1/{stored:.3g}"


def _times(ratio: float) -> str:
    return f"{ratio:.3g}x"


def shown_sizes(rows: list[dict[str, Any]]) -> dict[int, str]:
    """Return sizes of batches, and their markers."""
    sizes = sorted({row["batch_bytes"] for row in rows})
    if len(sizes) > len(_MARKERS):
        sizes = [*sizes[: len(_MARKERS) - 1], sizes[-1]]
    return dict(zip(sizes, _MARKERS, strict=False))


def _coordinates(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    return [row["encode_mb_per_second"] for row in rows], [row["ratio"] for row in rows]


def _colour(codec: str) -> str:
    return pictures.COLOURS[CODEC_IDS[codec]]


def _label_levels(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Add a number beside each point that has a level, unless another one is there already."""
    taken: list[tuple[float, float]] = []
    for row in rows:
        point = (row["encode_mb_per_second"], row["ratio"])
        x, y = axes.transData.transform(point)
        is_free = all(abs(x - a) > _ROOM[0] or abs(y - b) > _ROOM[1] for a, b in taken)
        if row["level"] is not None and is_free:
            taken.append((x, y))
            style = {"fontsize": 8, "xytext": (5, 4), "textcoords": "offset points"}
            axes.annotate(row["level"], point, **style)


def _legends(made: Any, codecs: list[str], sizes: dict[int, str], stored: float | None) -> None:
    """Add legends beside the axes: colours are codecs, markers are sizes of batches."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_colour(codec), label=codec) for codec in codecs]
    if stored is not None:
        handles.append(Line2D([], [], color="#888888", linewidth=0.8, label="as it is stored"))
    if len(sizes) > 1:
        handles += [
            Line2D([], [], color="#555555", marker=marker, ls="", label=_size_in_words(size))
            for size, marker in sizes.items()
        ]
    made.legend(handles=handles, loc="outside right upper", fontsize=8, frameon=False)


def _size_in_words(size: int) -> str:
    return f"batches of {size:,} B" if size else "batches as they are"
