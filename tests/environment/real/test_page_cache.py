"""Reads that do not wait, and file systems that cannot report what is cached."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykbroker.environment.real import page_cache
from pykbroker.environment.real.page_cache import is_cached, read_cached, warm

CONTENT = bytes(range(256)) * 2000


@pytest.fixture
def file() -> Iterator[int]:
    with tempfile.TemporaryFile() as opened:
        opened.write(CONTENT)
        opened.flush()
        yield opened.fileno()


def test_what_was_just_written_is_there(file: int) -> None:
    assert read_cached(file, 1000, 500) == CONTENT[500:1500]
    assert is_cached(file, len(CONTENT), 0)


def test_less_than_was_asked_for_is_nothing(file: int) -> None:
    assert read_cached(file, 1000, len(CONTENT) - 999) is None


def test_a_page_that_is_not_there_is_told_and_can_be_fetched(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    preadv = os.preadv
    fetched: list[tuple[int, int]] = []

    def until_fetched(fd: int, buffers: list[bytearray], position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT and not fetched:
            raise BlockingIOError
        if not flags:
            fetched.append((position, sum(map(len, buffers))))
        return preadv(fd, buffers, position, flags)

    monkeypatch.setattr(os, "preadv", until_fetched)
    assert read_cached(file, 300_000, 7) is None
    assert not is_cached(file, 300_000, 7)
    warm(file, 300_000, 7)
    assert fetched == [(7, 300_000)]
    assert read_cached(file, 300_000, 7) == CONTENT[7:300_007]
    assert is_cached(file, 300_000, 7)


def test_a_range_of_more_buffers_than_the_kernel_takes_is_fetched(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as content:
        content.truncate(129 * 1024 * 1024)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        warm(descriptor, 129 * 1024 * 1024, 0)
        assert is_cached(descriptor, 129 * 1024 * 1024, 0)
    finally:
        os.close(descriptor)


def test_a_file_system_that_cannot_tell_is_read(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> int:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "preadv", unsupported)
    assert read_cached(file, 1000, 500) == CONTENT[500:1500]
    assert read_cached(file, 1000, len(CONTENT) - 999) is None
    assert is_cached(file, 1000, 500)


def test_a_system_that_cannot_tell_is_read(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "_RWF_NOWAIT", None)
    assert read_cached(file, 1000, 500) == CONTENT[500:1500]
    assert read_cached(file, 1000, len(CONTENT) - 999) is None
    assert is_cached(file, 1000, 500)


def test_a_disk_that_fails_is_told(file: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", broken)
    with pytest.raises(OSError, match="Input/output"):
        read_cached(file, 1000, 500)
    with pytest.raises(OSError, match="Input/output"):
        is_cached(file, 1000, 500)
