"""Colours of the columns that `pykbroker consume` prints: on a terminal, with rich.

rich is imported only on a terminal; it knows whether that supports colours, and of NO_COLOR.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final, TextIO

_STYLES: Final[Mapping[str, str]] = {
    "timestamp": "dim",
    "partition": "magenta",
    "offset": "cyan",
    "headers": "yellow",
    "key": "green",
}

Paint = Callable[[str, bytes], bytes]


def no_colours(name: str, text: bytes) -> bytes:
    """Return the text of the column `name` unchanged."""
    return text


def paint_for(stream: TextIO | None = None) -> Paint:
    """Return a function (column name, text) -> coloured text for `stream` (standard output)."""
    output = sys.stdout if stream is None else stream
    if not output.isatty():
        return no_colours
    try:
        from rich.console import COLOR_SYSTEMS, Console
        from rich.style import Style
    except ImportError:
        return no_colours
    console = Console(file=output)
    if console.color_system is None or console.no_color:
        return no_colours
    system = COLOR_SYSTEMS[console.color_system]
    styles = {name: Style.parse(style) for name, style in _STYLES.items()}

    def paint(name: str, text: bytes) -> bytes:
        style = styles.get(name)
        if style is None:
            return text
        return style.render(text.decode("utf-8", "surrogateescape"), color_system=system).encode(
            "utf-8", "surrogateescape"
        )

    return paint
