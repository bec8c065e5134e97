"""A new log: its files, and what a failing directory says of it."""

from __future__ import annotations

import pytest

from pykbroker.config import TopicConfig
from pykbroker.environment.files import LogDirFailure
from pykbroker.log.directories.log_creation import NothingCreated, create_log
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.testing.world.memory_files import MemoryFiles
from pykbroker.types import TopicPartition
from tests.log.log_makers import NOW_MS

ORDERS = TopicPartition("orders", 0)
TOPIC_ID = b"0123456789abcdef"


def create(files: MemoryFiles) -> PartitionLog:
    return create_log(
        files, "/a", "orders-0", ORDERS, TopicConfig.default(), topic_id=TOPIC_ID, now_ms=NOW_MS
    )


def test_a_new_log_is_empty_and_has_its_topics_id() -> None:
    files = MemoryFiles()
    log = create(files)
    assert (log.directory, log.topic_id, log.log_end_offset) == ("/a/orders-0", TOPIC_ID, 0)
    assert b"MDEyMzQ1Njc4OWFiY2RlZg" in files.read_file("/a/orders-0/partition.metadata")


@pytest.mark.parametrize("call", ["mkdir", "open", "write"])
def test_a_failure_is_that_of_the_log_directory(call: str) -> None:
    files = MemoryFiles()
    files.mkdir("/a")
    files.fail = lambda name, path: OSError(5, "broken") if name == call else None
    with pytest.raises(LogDirFailure, match="creating the log orders-0") as raised:
        create(files)
    assert raised.value.directory == "/a"
    assert isinstance(raised.value, NothingCreated) is (call == "mkdir")
