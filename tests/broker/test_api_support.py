"""The page of APIs is generated from HANDLERS, and equals the committed one."""

from __future__ import annotations

from pykbroker.broker.api_support import PAGE, render
from pykbroker.broker.handlers import HANDLERS


def test_the_committed_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == render()


def test_every_served_api_has_a_line():
    lines = render().split("## Not served yet")[0].splitlines()
    named = [line.split("|")[2].strip() for line in lines if line.startswith("| ")][1:]
    assert sorted(named) == sorted(served.name for served in HANDLERS)
