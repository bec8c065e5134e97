"""A page cache that has nothing, for tests of what happens then."""

from __future__ import annotations

import os

import pytest


def empty_page_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads that must not wait find nothing; the others read on."""
    preadv = os.preadv

    def never_cached(fd: int, buffers: list[bytearray], position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT:
            raise BlockingIOError
        return preadv(fd, buffers, position)

    monkeypatch.setattr(os, "preadv", never_cached)
