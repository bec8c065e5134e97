from __future__ import annotations

import io
import os
import sys

import pytest

from pykbroker.cli.output_reader import check_reader


def test_a_reader_that_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        check_reader()
        os.close(reading)
        with pytest.raises(BrokenPipeError):
            check_reader()


def test_files_and_objects_have_no_reader(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    with open(os.path.join(tmp_path, "out"), "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        check_reader()
    check_reader()  # closed
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    check_reader()
