"""What holds of every picture: its texts are inside, and none is on another."""

from __future__ import annotations

from itertools import combinations
from typing import Any

#: Boxes have some air around their letters.
_TOLERANCE = 1.5


def check_texts(made: Any) -> None:
    """Draw it, and look where its texts are."""
    made.canvas.draw()
    width, height = made.bbox.size
    boxes = [(text, box) for text, box in _texts(made) if box.width > 1]
    for text, box in boxes:
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
        assert inside, f"{text!r} is not inside: {box}"
    for (text, one), (other, two) in combinations(boxes, 2):
        across = min(one.x1, two.x1) - max(one.x0, two.x0)
        along = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert across < _TOLERANCE or along < _TOLERANCE, f"{text!r} is on {other!r}"


def texts_of(made: Any) -> list[str]:
    """All that can be read."""
    made.canvas.draw()
    return [text for text, _ in _texts(made)]


def _texts(made: Any) -> list[tuple[str, Any]]:
    from matplotlib.text import Text

    renderer = made.canvas.get_renderer()
    found = []
    for axes in made.axes:
        low, high = axes.get_window_extent(renderer).intervalx
        for axis in (axes.xaxis, axes.yaxis):
            # Ticks that are not in sight are there, too.
            span = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                tick.label1.set_in_layout(span[0] <= tick.get_loc() <= span[1])
        assert low < high
    for text in made.findobj(Text):
        if text.get_visible() and text.get_in_layout() and text.get_text().strip():
            found.append((text.get_text(), text.get_window_extent(renderer)))
    return found
