"""The send queue on a socket pair: joins, partial sends, slices warm and cold."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import pytest

from pykbroker.environment.files import FileCutShort, FileSlice
from pykbroker.environment.real import page_cache
from pykbroker.environment.transport import Transport
from pykbroker.network import send
from pykbroker.network.send import BLOCKED, COLD, SENT, SendQueue
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.harness.cold import empty_page_cache
from tests.network.conftest import TRANSPORT
from tests.network.test_connection import Slice

CONTENT = os.urandom(1_000_000)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    left.setblocking(False)
    right.settimeout(60)
    yield left, right
    left.close()
    right.close()


@pytest.fixture
def file() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as opened:
        opened.write(CONTENT)
        opened.flush()
        yield opened


def _drain(queue: SendQueue, left: socket.socket, right: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        state = queue.send(left)
        if state == COLD:
            queue.warming()()
            queue.warmed()
            continue
        received += right.recv(1 << 20)
        assert state in (SENT, BLOCKED)
    assert queue.send(left) == SENT
    assert queue.pending_bytes == 0
    return bytes(received)


def test_nothing_to_send(pair: tuple[socket.socket, socket.socket]) -> None:
    assert SendQueue(TRANSPORT).send(pair[0]) == SENT


def test_small_parts_leave_in_one_send(pair: tuple[socket.socket, socket.socket]) -> None:
    queue = SendQueue(TRANSPORT)
    queue.add([b"a", bytearray(b"b"), memoryview(b"c"), b""], 3)
    assert queue.send(pair[0]) == SENT
    assert pair[1].recv(100) == b"abc"


def test_large_parts_and_many(pair: tuple[socket.socket, socket.socket]) -> None:
    queue = SendQueue(TRANSPORT)
    parts = [CONTENT[at : at + 777] for at in range(0, len(CONTENT), 777)]
    queue.add([*parts, CONTENT], 2 * len(CONTENT))
    assert _drain(queue, *pair, 2 * len(CONTENT)) == CONTENT + CONTENT


def test_a_small_slice_leaves_with_its_neighbours_in_one_send(
    pair: tuple[socket.socket, socket.socket], file: BinaryIO
) -> None:
    queue = SendQueue(TRANSPORT)
    kept = Slice(file.fileno(), 10, 1000)
    queue.add([b"head", kept, b"tail"], 1008)
    assert queue.send(pair[0]) == SENT
    assert pair[1].recv(5000) == b"head" + CONTENT[10:1010] + b"tail"
    assert kept.released == 1


def test_slices_of_all_sizes_in_order(
    pair: tuple[socket.socket, socket.socket], file: BinaryIO
) -> None:
    queue = SendQueue(TRANSPORT)
    expected = b""
    slices = []
    for position, length in ((0, 1), (5, 32 * 1024), (7, 32 * 1024 + 1), (0, 1_000_000), (9, 0)):
        kept = Slice(file.fileno(), position, length)
        slices.append(kept)
        queue.add([b"between", kept], 7 + length)
        expected += b"between" + CONTENT[position : position + length]
    assert _drain(queue, *pair, len(expected)) == expected
    assert [kept.released for kept in slices] == [1] * len(slices)


@pytest.mark.parametrize("length", [500, 900_000])
def test_a_cold_slice_is_read_elsewhere(
    pair: tuple[socket.socket, socket.socket],
    file: BinaryIO,
    monkeypatch: pytest.MonkeyPatch,
    length: int,
) -> None:
    empty_page_cache(monkeypatch)
    monkeypatch.setattr(send, "COLD_READ_BYTES", 300_000)
    queue = SendQueue(TRANSPORT)
    kept = Slice(file.fileno(), 3, length)
    queue.add([b"head", kept, b"tail"], length + 8)
    assert _drain(queue, *pair, length + 8) == b"head" + CONTENT[3 : 3 + length] + b"tail"
    assert kept.released == 1


def test_a_file_system_that_cannot_tell_is_read(
    pair: tuple[socket.socket, socket.socket], file: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> int:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "preadv", unsupported)
    queue = SendQueue(TRANSPORT)
    queue.add([Slice(file.fileno(), 0, 100), Slice(file.fileno(), 0, 100_000)], 100_100)
    assert _drain(queue, *pair, 100_100) == CONTENT[:100] + CONTENT[:100_000]


class CopyingTransport:
    """A network without sendfile, as a simulated one is."""

    more_follows = 0

    def send_file(self, sock: Any, piece: FileSlice, position: int, size: int) -> int:
        assert piece.source is not None
        return int(sock.send(piece.source.pread(size, position)))


@pytest.mark.parametrize("length", [500, 300_000])
def test_a_slice_of_a_file_in_memory(
    pair: tuple[socket.socket, socket.socket], length: int
) -> None:
    files = MemoryFiles()
    file = files.open("/a", create=True)
    file.pwritev([CONTENT], 0)
    queue = SendQueue(cast(Transport, CopyingTransport()))
    queue.add([b"head", file.slice(3, length), b"tail"], length + 8)
    assert _drain(queue, *pair, length + 8) == b"head" + CONTENT[3 : 3 + length] + b"tail"


@pytest.mark.parametrize("length", [2_000, 200_000])
def test_a_file_that_is_too_short(pair: tuple[socket.socket, socket.socket], length: int) -> None:
    with tempfile.TemporaryFile() as empty:
        queue = SendQueue(TRANSPORT)
        kept = Slice(empty.fileno(), 0, length)
        queue.add([kept], length)
        with pytest.raises(FileCutShort):
            _send_once(queue, pair[0])
        queue.release()
        assert kept.released == 1


def test_a_small_slice_cut_short_where_the_page_cache_cannot_be_asked(
    pair: tuple[socket.socket, socket.socket], file: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "_RWF_NOWAIT", None)
    queue = SendQueue(TRANSPORT)
    kept = Slice(file.fileno(), 0, 2_000)
    queue.add([b"head", kept, b"tail"], 2_008)
    os.ftruncate(file.fileno(), 1_999)
    with pytest.raises(FileCutShort):
        _send_once(queue, pair[0])
    assert pair[1].recv(5_000) == b"head"
    queue.release()
    assert kept.released == 1


def _send_once(queue: SendQueue, sock: socket.socket) -> None:
    if queue.send(sock) == COLD:
        queue.warming()()
        queue.warmed()
        queue.send(sock)


def test_one_call_hands_over_a_bounded_amount(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "BYTES_PER_CALL", 1000)
    monkeypatch.setattr(send, "JOIN_BYTES", 1000)
    queue = SendQueue(TRANSPORT)
    queue.add([bytes(1000)] * 3, 3000)
    assert [queue.send(pair[0]) for _ in range(3)] == [BLOCKED, BLOCKED, SENT]
