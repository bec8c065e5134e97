"""Look-ups that are repeated until nothing is missing; the handlers' part is in test_fetch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pykbroker.broker.requests import cold_reads
from pykbroker.broker.requests.cold_reads import ColdReads
from pykbroker.deferred import Deferred
from pykbroker.environment.files import ColdRead
from pykbroker.errors import ErrorCode, KafkaError
from pykbroker.testing.world.memory_files import MemoryFiles
from tests.broker.handlers.data_plane import Threads


class Node:
    """Files of which some are cold, threads that are done when a test says so."""

    def __init__(self, *cold: str) -> None:
        self.files = MemoryFiles()
        self.files.mkdir("/d")
        for name in ("a", "b", "c"):
            self.files.write_file(f"/d/{name}", name.encode())
        self.files.cold |= {f"/d/{name}" for name in cold}
        self.threads = Threads()
        self.woken = 0
        self.reads = ColdReads(self.threads, self.files, self.wake)
        self.request: Any = SimpleNamespace(connection=SimpleNamespace(closed=False))

    def wake(self) -> None:
        self.woken += 1

    def all_files(self) -> bytes:
        return b"".join(self.files.read_file(f"/d/{name}") for name in ("a", "b", "c"))

    def serve(self, answer: Any = bytes.decode) -> Any:
        return self.reads.serve(self.request, self.all_files, answer)


def test_what_is_there_is_answered_at_once() -> None:
    node = Node()
    assert node.serve() == "abc"
    assert (node.threads.waiting, node.files.may_wait) == ([], True)


def test_what_runs_while_a_look_up_breathes_may_wait() -> None:
    node = Node()
    seen: list[bool] = []

    def look_up() -> bool:
        node.reads.breathe(lambda: seen.append(node.files.may_wait))
        return node.files.may_wait

    assert node.reads.look_up_now(look_up) is False
    assert seen == [True]
    node.reads.breathe(lambda: seen.append(node.files.may_wait))
    assert (seen, node.files.may_wait) == ([True, True], True)


def test_each_miss_is_fetched_and_the_look_up_repeated() -> None:
    node = Node("a", "c")
    outcome = node.serve()
    assert isinstance(outcome, Deferred)
    assert node.threads.finish() == 2
    assert (outcome.value, node.woken, node.files.may_wait) == ("abc", 1, True)


def test_an_answer_may_come_later_and_may_be_a_refusal() -> None:
    node = Node("b")
    later = Deferred()
    outcome = node.serve(lambda _found: later)
    node.threads.finish()
    assert not outcome.done
    later.resolve("now")
    assert outcome.value == "now"

    def refuse(_found: bytes) -> str:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)

    again = Node("b")
    refused = again.serve(refuse)
    again.threads.finish()
    assert refused.value.code == ErrorCode.OFFSET_NOT_AVAILABLE


def test_the_answer_itself_may_wait_for_a_disk() -> None:
    node = Node()
    node.files.cold.add("/d/a")
    assert node.reads.serve(node.request, lambda: 1, lambda _: node.all_files()) == b"abc"


def test_in_the_end_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_reads, "MOST_TRIES", 3)
    node = Node()
    waited: list[bool] = []

    def evicted_each_time() -> bytes:
        waited.append(node.files.may_wait)
        if not node.files.may_wait:
            raise ColdRead(lambda: None)
        return b"found"

    outcome = node.reads.serve(node.request, evicted_each_time, bytes.decode)
    node.threads.finish()
    assert outcome.value == "found"
    assert waited == [False, False, False, True]
