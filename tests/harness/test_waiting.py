"""Waiting ends when the condition holds, or says what it waited for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.waiting import wait_for


def test_it_looks_until_the_condition_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.harness.waiting.PAUSE_SECONDS", 0)
    looks: Iterator[object] = iter((False, 0, [], "there"))
    wait_for(lambda: next(looks), "the last one")
    assert next(looks, None) is None


def test_it_says_what_did_not_come() -> None:
    with pytest.raises(AssertionError, match="in vain for Godot"):
        wait_for(lambda: False, "Godot", timeout_s=0)
