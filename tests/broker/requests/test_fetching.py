"""Where the records of a response lie: in memory or still in their file.

What each request gets, and when, is in tests/broker/handlers/test_fetch.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from pykbroker.broker.requests.fetching import SMALL_BYTES
from pykbroker.environment.files import FileSlice
from pykbroker.protocol.parts_writer import part_size
from tests.broker.handlers.data_plane import Broker
from tests.broker.handlers.test_fetch import fetch, request


def records_of(value_bytes: int) -> Any:
    """The records of two partitions with one record of this size each, as they are answered."""
    broker = Broker()
    broker.node.create_topic(partitions=2)
    for index in range(2):
        partition = broker.node.manager.find("t", index)
        assert partition is not None
        broker.node.append(partition, b"v" * value_bytes)
    (topic,) = fetch(broker, request(0, 0, 1)).outcome.responses
    records = [entry.records for entry in topic.partitions]
    assert all(part_size(each) > value_bytes for each in records)
    return records


def test_little_is_read_at_once() -> None:
    assert all(isinstance(each, bytes) for each in records_of(100))


def test_much_stays_in_the_file() -> None:
    records = records_of(SMALL_BYTES // 2)
    assert all(isinstance(each, FileSlice) for each in records)


def test_what_is_not_in_the_page_cache_stays_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileSlice, "read_cached", lambda piece: None)
    assert all(isinstance(each, FileSlice) for each in records_of(100))


def test_what_cannot_be_read_stays_for_the_sender_to_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(piece: FileSlice) -> None:
        raise OSError("broken")

    monkeypatch.setattr(FileSlice, "read_cached", fail)
    assert all(isinstance(each, FileSlice) for each in records_of(100))


def test_what_is_cut_short_stays_for_the_sender_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileSlice, "read_cached", lambda piece: b"short")
    assert all(isinstance(each, FileSlice) for each in records_of(100))
