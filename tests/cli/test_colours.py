from __future__ import annotations

import io
import subprocess
import sys

import pytest

from pykbroker.cli.colours import paint_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_columns_have_colours_on_a_terminal() -> None:
    paint = paint_for(Terminal())
    assert paint("key", b"k\xff") == b"\x1b[32mk\xff\x1b[0m"
    assert paint("value", b"v") == b"v"


def test_no_colours_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paint_for(io.StringIO())("key", b"k") == b"k"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint_for(Terminal())("key", b"k") == b"k"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert paint_for(Terminal())("key", b"k") == b"k"


def test_rich_is_imported_for_terminals_only() -> None:
    program = (
        "import io, sys; from pykbroker.cli import consume; "
        "from pykbroker.cli.colours import paint_for; paint_for(io.StringIO()); "
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("False\n", 0)
