"""Send: replies with file slices, small ones by pread and join, large ones by sendfile.

    python -m benchmarks.micro.bench_send [--scale X]

The reader is a thread of this process that discards everything; the microseconds are the sender's
time without its waits for the socket.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import tempfile
import threading
import time
from collections.abc import Sequence

from benchmarks.command_line import amount, parser_for, times
from pykbroker.environment.files import FileSlice
from pykbroker.environment.real.files import Descriptor
from pykbroker.environment.real.world import real_environment
from pykbroker.environment.transport import Transport
from pykbroker.network.send import SENT, SendQueue

TOTAL_BYTES = 1 << 30
MOST_REPLIES = 50_000
SIZES = (200, 4 * 1024, 16 * 1024, 64 * 1024, 1024 * 1024)


class Reader(threading.Thread):
    """Reads until the end, and counts."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self._sock = sock
        self.read_bytes = 0

    def run(self) -> None:
        """Discard everything."""
        buffer = bytearray(1 << 20)
        while got := self._sock.recv_into(buffer):
            self.read_bytes += got


def measure(file: Descriptor, transport: Transport, size: int, scale: float) -> tuple[float, float]:
    """Return (microseconds per reply, MB/s) for replies with one slice of `size` bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        right = socket.create_connection(listening.getsockname())
        left, _ = listening.accept()
    left.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    left.setblocking(False)
    left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 102400)
    reader = Reader(right)
    reader.start()
    replies = times(min(MOST_REPLIES, TOTAL_BYTES // size), scale)
    head = bytes(60)
    waited = 0.0
    before = time.perf_counter()
    for _ in range(replies):
        queue = SendQueue(transport)
        queue.add((head, FileSlice(file, 0, size), b"\0"), size + 61)
        while queue.send(left) != SENT:
            start = time.perf_counter()
            select.select([], [left], [])
            waited += time.perf_counter() - start
    seconds = time.perf_counter() - before
    left.close()
    reader.join()
    right.close()
    assert reader.read_bytes == replies * (size + 61)
    return (seconds - waited) / replies * 1e6, replies * size / seconds / 1e6


def main(words: Sequence[str] | None = None) -> None:
    """Print one row for each size."""
    parser = parser_for("benchmarks.micro.bench_send", __doc__)
    parser.add_argument(
        "--scale",
        type=amount,
        default=1.0,
        help="fraction of the replies of a row, such as 0.01 (default 1)",
    )
    options = parser.parse_args(words)
    with tempfile.TemporaryFile() as file:
        file.write(bytes(max(SIZES)))
        file.flush()
        descriptor = Descriptor(os.dup(file.fileno()))
        transport = real_environment(asyncio.new_event_loop()).transport
        for size in SIZES:
            micros, rate = measure(descriptor, transport, size, options.scale)
            print(f"slice of {size:9,} bytes: {micros:8.1f} us a reply, {rate:8,.0f} MB/s")


if __name__ == "__main__":
    main()
