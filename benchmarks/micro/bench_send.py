"""Send: replies with file slices, small ones by pread and join, large ones by sendfile.

Run: ``python -m benchmarks.micro.bench_send``. The reader is a thread of this process that throws
all away; the figures are of the sender's own time.
"""

from __future__ import annotations

import select
import socket
import tempfile
import threading
import time

from pykbroker.network.send import SENT, SendQueue

TOTAL_BYTES = 1 << 30
MOST_REPLIES = 50_000
SIZES = (200, 4 * 1024, 16 * 1024, 64 * 1024, 1024 * 1024)


class Slice:
    """A run of bytes in an open file."""

    def __init__(self, fd: int, position: int, length: int) -> None:
        self._fd = fd
        self.position = position
        self.length = length

    def fileno(self) -> int:
        """Descriptor of the file."""
        return self._fd

    def release(self) -> None:
        """Nothing to do: the file outlives us."""


def throw_away(sock: socket.socket) -> None:
    """Read until the end."""
    buffer = bytearray(1 << 20)
    while sock.recv_into(buffer):
        pass


def measure(fd: int, size: int) -> tuple[float, float]:
    """(microseconds a reply, MB/s) for replies with one slice of `size` bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        right = socket.create_connection(listening.getsockname())
        left, _ = listening.accept()
    left.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    left.setblocking(False)
    left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 102400)
    reader = threading.Thread(target=throw_away, args=(right,))
    reader.start()
    replies = min(MOST_REPLIES, TOTAL_BYTES // size)
    head = bytes(60)
    waited = 0.0
    before = time.perf_counter()
    for _ in range(replies):
        queue = SendQueue()
        queue.add((head, Slice(fd, 0, size), b"\0"), size + 61)
        while queue.send(left) != SENT:
            start = time.perf_counter()
            select.select([], [left], [])
            waited += time.perf_counter() - start
    seconds = time.perf_counter() - before
    left.close()
    reader.join()
    right.close()
    return (seconds - waited) / replies * 1e6, replies * size / seconds / 1e6


def main() -> None:
    """Print one row for each size."""
    with tempfile.TemporaryFile() as file:
        file.write(bytes(max(SIZES)))
        file.flush()
        for size in SIZES:
            micros, rate = measure(file.fileno(), size)
            print(f"slice of {size:9,} bytes: {micros:8.1f} us a reply, {rate:8,.0f} MB/s")


if __name__ == "__main__":
    main()
