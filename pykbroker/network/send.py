"""The outgoing queue of one connection: bytes and slices of log files, in order.

How a part is sent:

* bytes: parts of up to JOIN_BYTES together are joined into one `send`, more use `sendmsg`;
* a file slice up to SMALL_SLICE_BYTES: read from the page cache and joined with the bytes before
  and after it, so that a small fetch reply is one `send`;
* a larger file slice: `Transport.send_file` straight to the socket;
* a slice that is not in the page cache: a thread has the kernel fetch it; then it is sent without
  looking again.

State: the unsent parts, and how much of the first slice among them has been sent.
In: `add(parts)`, `send(socket)` whenever the socket may take more.
Out: SENT, BLOCKED (call again when the socket is writable) or COLD (run `warming()` in a thread,
then call `warmed`).
Invariants: the order is kept; a slice is released exactly once, when all of it was read or passed
to the kernel, or the connection closed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from pykbroker.environment.files import FileCutShort, FileSlice
from pykbroker.environment.transport import Bytes, StreamSocket, Transport

SENT = 0
BLOCKED = 1
COLD = 2

SMALL_SLICE_BYTES = 32 * 1024
JOIN_BYTES = 64 * 1024
SENDFILE_WINDOW_BYTES = 512 * 1024
COLD_READ_BYTES = 1024 * 1024
IOV_MAX = 512
# Fairness: one connection passes at most this much to the kernel before others get a turn.
BYTES_PER_CALL = 8 * 1024 * 1024

Part = Bytes | FileSlice


class SendQueue:
    """The outgoing parts of one connection."""

    __slots__ = ("_head_sent", "_is_warm", "_parts", "_transport", "pending_bytes", "sent_bytes")

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._parts: deque[Part] = deque()
        self._head_sent = 0
        self._is_warm = False  # just fetched: it is sent even if it has been evicted again
        self.pending_bytes = 0
        self.sent_bytes = 0

    def add(self, parts: Iterable[Part], size: int) -> None:
        """Queue `parts`, `size` bytes together."""
        self._parts.extend(parts)
        self.pending_bytes += size

    def send(self, sock: StreamSocket) -> int:
        """Send what the socket accepts now, about BYTES_PER_CALL at most; return SENT, BLOCKED or
        COLD.

        Raises OSError if the connection is gone or the file cannot be read, FileCutShort if the
        file was truncated.
        """
        budget = self.sent_bytes + BYTES_PER_CALL
        while self._parts:
            head = self._parts[0]
            try:
                if not isinstance(head, (bytes, bytearray, memoryview)) and (
                    head.length > SMALL_SLICE_BYTES or self._head_sent
                ):
                    if not self._send_from_file(sock, head):
                        return COLD
                else:
                    cold = self._send_joined(sock)
                    if cold:
                        return COLD
            except (BlockingIOError, InterruptedError):
                return BLOCKED
            if self.sent_bytes >= budget and self._parts:
                return BLOCKED
        return SENT

    def _send_joined(self, sock: StreamSocket) -> bool:
        """Send the bytes and small slices at the head together; return True if the first of them is
        a cold slice.
        """
        parts = self._parts
        gathered: list[Bytes] = []
        total = 0
        more = 0
        cold = False
        for part in parts:
            if isinstance(part, (bytes, bytearray, memoryview)):
                gathered.append(part)
                total += len(part)
            elif part.length > SMALL_SLICE_BYTES or self._head_sent:
                more = self._transport.more_follows
                break
            else:
                content = self._read_small(part)
                if content is None:
                    cold = not gathered
                    break
                gathered.append(content)
                total += part.length
            if total >= JOIN_BYTES or len(gathered) >= IOV_MAX:
                break
        if cold:
            return True
        if not total:
            self._drop_sent(gathered, 0)
            return False
        if len(gathered) == 1:
            sent = sock.send(gathered[0], more)
        elif total <= JOIN_BYTES:
            sent = sock.send(b"".join(gathered), more)
        else:
            sent = sock.sendmsg(gathered, (), more)
        self._drop_sent(gathered, sent)
        if sent < total:
            raise BlockingIOError
        return False

    def _drop_sent(self, gathered: list[Bytes], sent: int) -> None:
        parts = self._parts
        self.pending_bytes -= sent
        self.sent_bytes += sent
        for content in gathered:
            size = len(content)
            part = parts[0]
            if sent < size:
                # The bytes that were read of a small slice are kept: it is not read a second time.
                parts[0] = memoryview(content)[sent:]
                if not isinstance(part, (bytes, bytearray, memoryview)):
                    part.release()
                return
            sent -= size
            parts.popleft()
            if not isinstance(part, (bytes, bytearray, memoryview)):
                part.release()

    def _send_from_file(self, sock: StreamSocket, head: FileSlice) -> bool:
        """Send a window of the slice at the head; return False if it is not in the page cache."""
        position = head.position + self._head_sent
        window = min(head.length - self._head_sent, SENDFILE_WINDOW_BYTES)
        is_warm, self._is_warm = self._is_warm, False
        if not is_warm and not head.is_cached(position, window):
            return False
        sent = self._transport.send_file(sock, head, position, window)
        if not sent:
            raise FileCutShort(f"{head.length - self._head_sent} bytes are missing in the file")
        self._advance_head(head, sent)
        return True

    def _advance_head(self, head: FileSlice, sent: int) -> None:
        self._head_sent += sent
        self.pending_bytes -= sent
        self.sent_bytes += sent
        if self._head_sent == head.length:
            self._parts.popleft()
            self._head_sent = 0
            head.release()

    def _read_small(self, part: FileSlice) -> Bytes | None:
        """Read a small slice completely; None if it is not in the page cache."""
        is_warm, self._is_warm = self._is_warm, False
        return part.read() if is_warm else part.read_cached()

    def warming(self) -> Callable[[], None]:
        """Return the job that a thread has to run after COLD."""
        head = self._parts[0]
        assert not isinstance(head, (bytes, bytearray, memoryview))
        size = min(head.length - self._head_sent, COLD_READ_BYTES)
        return head.warming(head.position + self._head_sent, size)

    def warmed(self) -> None:
        """Record that the cold window is now in the page cache."""
        self._is_warm = True

    def release(self) -> None:
        """Drop everything unsent."""
        for part in self._parts:
            if not isinstance(part, (bytes, bytearray, memoryview)):
                part.release()
        self._parts.clear()
        self._head_sent = 0
        self.pending_bytes = 0
