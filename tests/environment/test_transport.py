"""What network/ relies on, of real and of simulated sockets alike."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pykbroker.environment.files import Files
from pykbroker.environment.transport import ListeningSocket, StreamSocket
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.environment.both_worlds import Bench, open_bench, value_of

PAYLOAD = bytes(range(256)) * 8192


@pytest.fixture(params=["real", "simulated"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with open_bench(request.param) as opened:
        yield opened


def listen(bench: Bench, port: int = 0, backlog: int = 5) -> ListeningSocket:
    return bench.environment.transport.listen(
        bench.address, port, backlog=backlog, receive_buffer_bytes=0
    )


def connect(bench: Bench, port: int, timeout_ms: int = 60_000) -> Any:
    transport = bench.environment.transport
    return value_of(bench, transport.connect(bench.address, port, timeout_ms=timeout_ms))


def when_ready(bench: Bench, sock: Any, *, writes: bool = False) -> None:
    """Wait until the transport says that `sock` is ready."""
    transport = bench.environment.transport
    called: list[bool] = []
    add: Callable[..., None] = transport.add_writer if writes else transport.add_reader
    remove: Callable[..., None] = transport.remove_writer if writes else transport.remove_reader
    add(sock, lambda: called.append(True))
    bench.run_until(lambda: bool(called))
    remove(sock)


def pair(bench: Bench) -> tuple[Any, Any, ListeningSocket]:
    listening = listen(bench)
    near = connect(bench, listening.port)
    when_ready(bench, listening)
    far, _ = listening.accept()
    bench.environment.transport.prepare_accepted(far, send_buffer_bytes=0)
    return near, far, listening


def close_all(*sockets: Any) -> None:
    for sock in sockets:
        sock.close()


def test_accepting_is_told_and_does_not_wait(bench: Bench) -> None:
    listening = listen(bench)
    with pytest.raises(BlockingIOError):
        listening.accept()
    first = connect(bench, listening.port)
    second = connect(bench, listening.port)
    accepted = []
    for _ in range(2):
        when_ready(bench, listening)
        accepted.append(listening.accept())
    addresses = [address for _, address in accepted]
    assert all(isinstance(address[0], str) for address in addresses)
    assert addresses[0][1] != addresses[1][1]
    with pytest.raises(BlockingIOError):
        listening.accept()
    close_all(first, second, *(sock for sock, _ in accepted), listening)
    assert (listening.fileno(), first.fileno()) == (-1, -1)


def test_nothing_to_read_does_not_wait(bench: Bench) -> None:
    near, far, listening = pair(bench)
    with pytest.raises(BlockingIOError):
        near.recv(10)
    with pytest.raises(BlockingIOError):
        near.recv_into(bytearray(10))
    close_all(near, far, listening)


def test_a_full_buffer_does_not_wait_and_readiness_comes_back(bench: Bench) -> None:
    near, far, listening = pair(bench)
    sent = bytearray()
    with contextlib.suppress(BlockingIOError):
        while True:
            start = len(sent) % len(PAYLOAD)
            sent += PAYLOAD[start : start + near.send(memoryview(PAYLOAD)[start:])]
    writable: list[bool] = []
    bench.environment.transport.add_writer(near, lambda: writable.append(True))
    received = bytearray()
    while len(received) < len(sent):
        when_ready(bench, far)
        buffer = bytearray(100_000)
        count = far.recv_into(memoryview(buffer)[10:])
        received += buffer[10 : 10 + count]
    assert received == sent
    bench.run_until(lambda: bool(writable))
    bench.environment.transport.remove_writer(near)
    assert near.send(b"more") == 4
    close_all(near, far, listening)


def read_all(bench: Bench, sock: StreamSocket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        when_ready(bench, sock)
        received += sock.recv(size - len(received))
    return received


def test_several_buffers_leave_in_their_order(bench: Bench) -> None:
    near, far, listening = pair(bench)
    assert near.sendmsg([b"ab", bytearray(b"cd"), memoryview(b"ef")]) == 6
    assert read_all(bench, far, 6) == b"abcdef"
    close_all(near, far, listening)


def test_the_end_of_a_stream_comes_after_its_bytes(bench: Bench) -> None:
    near, far, listening = pair(bench)
    near.send(b"last words")
    near.close()
    assert read_all(bench, far, 10) == b"last words"
    when_ready(bench, far)
    assert far.recv(10) == b""
    assert far.recv_into(bytearray(10)) == 0
    close_all(far, listening)


def test_a_socket_closed_with_unread_bytes_resets_the_connection(bench: Bench) -> None:
    near, far, listening = pair(bench)
    near.send(b"never read")
    when_ready(bench, far)
    far.close()
    when_ready(bench, near)
    with pytest.raises(ConnectionResetError):
        near.recv(10)
    close_all(near, listening)


def test_sending_to_a_closed_socket_fails_in_the_end(bench: Bench) -> None:
    near, far, listening = pair(bench)
    far.close()
    when_ready(bench, near)
    assert near.recv(1) == b""
    failures: list[OSError] = []

    def try_to_send() -> bool:
        try:
            near.send(b"x")
        except BlockingIOError:
            return False
        except OSError as failure:
            failures.append(failure)
        return bool(failures)

    bench.run_until(try_to_send)
    assert isinstance(failures[0], (BrokenPipeError, ConnectionResetError))
    close_all(near, listening)


def test_a_closed_socket_cannot_be_used(bench: Bench) -> None:
    near, far, listening = pair(bench)
    near.close()
    near.close()
    for use in (lambda: near.recv(1), lambda: near.send(b"x")):
        with pytest.raises(OSError, match="descriptor"):
            use()
    close_all(far, listening)


def test_connections_that_nobody_accepted_are_reset_with_their_port(bench: Bench) -> None:
    listening = listen(bench)
    near = connect(bench, listening.port)
    listening.close()
    when_ready(bench, near)
    with contextlib.suppress(ConnectionResetError):
        assert near.recv(1) == b""
    assert isinstance(connect(bench, listening.port), ConnectionRefusedError)
    near.close()


def test_a_port_is_bound_once(bench: Bench) -> None:
    listening = listen(bench)
    with pytest.raises(OSError, match="in use"):
        listen(bench, listening.port)
    listening.close()
    again = listen(bench, listening.port)
    assert again.port == listening.port
    again.close()


def test_a_part_of_a_file_is_sent(bench: Bench, tmp_path: Any) -> None:
    files: Files = bench.environment.files
    path = str(tmp_path / "file")
    if isinstance(files, MemoryFiles):
        files.mkdir(str(tmp_path))
    files.write_file(path, b"0123456789")
    near, far, listening = pair(bench)
    piece = files.open(path).slice(2, 6)
    assert bench.environment.transport.send_file(near, piece, 3, 4) == 4
    assert read_all(bench, far, 4) == b"3456"
    piece.release()
    close_all(near, far, listening)


def test_removed_callbacks_are_not_called(bench: Bench) -> None:
    near, far, listening = pair(bench)
    transport = bench.environment.transport
    calls: list[str] = []
    transport.add_reader(far, lambda: calls.append("first"))
    transport.add_reader(far, lambda: calls.append("second"))
    near.send(b"x")
    bench.run_until(lambda: len(calls) >= 3)  # again and again while there is something to read
    assert set(calls) == {"second"}
    transport.remove_reader(far)
    count = len(calls)
    done: list[bool] = []
    bench.environment.scheduler.call_later(20, lambda: done.append(True))
    bench.run_until(lambda: bool(done))
    assert len(calls) == count
    close_all(near, far, listening)
