from __future__ import annotations

import io
import os
import signal
import sys
import threading

import pytest

from pykbroker.cli.output_reader import check_reader, reader_watched


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


def test_a_wait_ends_when_the_reader_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    before = signal.getsignal(signal.SIGPIPE)
    leaving = threading.Timer(0.01, os.close, [reading])
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        leaving.start()
        with pytest.raises(BrokenPipeError), reader_watched():
            assert not threading.Event().wait(60), "the wait was not interrupted"
    assert signal.getsignal(signal.SIGPIPE) == before


def test_a_reader_that_left_before_it_was_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while the thread that sends it is being started."""
    reading, writing = os.pipe()
    os.close(reading)
    before = signal.getsignal(signal.SIGPIPE)
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        for _ in range(20):
            with pytest.raises(BrokenPipeError), reader_watched():
                assert not threading.Event().wait(60), "the wait was not interrupted"
    assert signal.getsignal(signal.SIGPIPE) == before


def test_the_signal_of_another_pipe_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        with reader_watched():
            signal.raise_signal(signal.SIGPIPE)
    os.close(reading)


def test_without_a_pipe_or_in_another_thread_nothing_is_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.getsignal(signal.SIGPIPE)
    seen: list[object] = []

    def look() -> None:
        with reader_watched():
            seen.append(signal.getsignal(signal.SIGPIPE))

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.StringIO())
        look()
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    os.close(reading)
    assert seen == [before, before]
