from __future__ import annotations

from pathlib import Path

import pytest

from pykbroker.config import document
from pykbroker.config.broker_keys import BROKER_KEYS


def test_the_page_is_up_to_date_and_names_every_key() -> None:
    text = document.document()
    assert document.TARGET.read_text("utf-8") == text
    for name in BROKER_KEYS:
        assert f"| **{name}**<br>" in text


def test_check_finds_an_old_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(document, "TARGET", tmp_path / "configuration.md")
    assert document.main(["--check"]) == 1
    assert "is out of date" in capsys.readouterr().out
    assert document.main([]) == 0
    assert document.main(["--check"]) == 0
