"""pykbroker.log.compaction.cleaner_driver: a log manager, a real disk and a real worker process."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from pykbroker.config import BrokerConfig, TopicConfig
from pykbroker.config.load import standalone_properties
from pykbroker.deferred import Deferred
from pykbroker.environment.files import LogDirFailure
from pykbroker.environment.real.files import RealFiles
from pykbroker.log.compaction import cleaner_driver
from pykbroker.log.compaction.cleaner_driver import CleanerDriver
from pykbroker.log.compaction.round import CompactionJob
from pykbroker.log.directories.log_manager import LogManager
from pykbroker.log.partition.partition_log import PartitionLog
from pykbroker.types import TopicPartition
from tests.harness.environments import environment_at
from tests.harness.environments import run as run_driver
from tests.log.compaction.compaction_makers import NOW, Writer, records

ACCOUNTS = TopicPartition("accounts", 0)
OTHERS = TopicPartition("others", 1)


class Node:
    """What of a node the cleaner needs."""

    def __init__(self, root: Path, **properties: str) -> None:
        settings = standalone_properties(str(root)) | {
            name.replace("_", "."): value for name, value in properties.items()
        }
        config = BrokerConfig.from_properties(settings)
        self.manager = LogManager(config.log_directories, config, RealFiles())
        self.manager.load(NOW)
        self.failures: list[LogDirFailure] = []
        self.cleaner: CleanerDriver

    def log(self, partition: TopicPartition = ACCOUNTS) -> PartitionLog:
        config = TopicConfig.default(cleanup_policy="compact", index_interval_bytes="100")
        config.segment_bytes = 400
        log = self.manager.create(partition, bytes(15) + bytes([partition.partition + 1]), config)
        writer = Writer(log)
        for number in range(40):
            writer.put([(b"k%d" % (number % 4), b"value %d" % number)], codec=number % 5)
        return log

    def marks(self) -> dict[TopicPartition, int]:
        return {log.topic_partition: log.log_end_offset for log in self.manager.logs()}


async def pause(node: Node, delay_ms: float = 10) -> None:
    await node.cleaner._scheduler.sleep(delay_ms)


def run(node: Node, script: Callable[[Node], Awaitable[None]]) -> None:
    async def main() -> None:
        node.cleaner = CleanerDriver(
            node.manager,
            environment_at(lambda: NOW),
            high_watermarks=node.marks,
            on_failure=node.failures.append,
        )
        node.cleaner.load_checkpoints()
        try:
            await script(node)
        finally:
            await node.cleaner.stop()

    try:
        run_driver(main)
    finally:
        node.manager.directories.unlock()


def test_it_cleans_what_is_due_and_remembers(tmp_path: Path) -> None:
    node = Node(tmp_path)
    log, other = node.log(), node.log(OTHERS)

    async def script(node: Node) -> None:
        before = log.size_bytes
        assert await node.cleaner.clean_one()
        assert await node.cleaner.clean_one()
        assert not await node.cleaner.clean_one()
        assert log.size_bytes < before

    run(node, script)
    for cleaned in (log, other):
        last = [r.offset for r in records(cleaned) if r.offset < cleaned.active.base_offset]
        assert len(last) == 4
    checkpoint = (tmp_path / "cleaner-offset-checkpoint").read_text()
    assert sorted(checkpoint.splitlines()[2:]) == [
        f"accounts 0 {log.active.base_offset}",
        f"others 1 {other.active.base_offset}",
    ]
    assert node.failures == []
    assert node.cleaner.state.in_progress == set()

    again = Node(tmp_path)

    async def second(node: Node) -> None:
        assert node.cleaner.state.first_dirty[ACCOUNTS] == log.active.base_offset

    run(again, second)


def test_the_task_runs_by_itself(tmp_path: Path) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="10")
    log = node.log()

    async def script(node: Node) -> None:
        node.cleaner.start()
        while ACCOUNTS not in node.cleaner.state.first_dirty:
            await pause(node)

    run(node, script)
    assert node.cleaner.state.first_dirty[ACCOUNTS] == log.active.base_offset


def test_it_does_nothing_when_it_is_switched_off(tmp_path: Path) -> None:
    node = Node(tmp_path, log_cleaner_enable="false")
    node.log()

    async def script(node: Node) -> None:
        node.cleaner.start()
        await pause(node, 0)
        assert node.cleaner._tasks == {}

    run(node, script)


def test_two_cleaners_take_two_logs_at_once(tmp_path: Path) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="5", log_cleaner_threads="2")
    logs = node.log(), node.log(OTHERS)
    together: list[Deferred] = []

    async def script(node: Node) -> None:
        for number in range(2):
            worker = node.cleaner.worker(number)
            worker.send = partial(send_together, worker.send)  # type: ignore[method-assign]
        node.cleaner.start()
        while node.cleaner.state.first_dirty.keys() != {ACCOUNTS, OTHERS}:
            await pause(node)
        settings = standalone_properties(str(tmp_path)) | {"log.cleaner.backoff.ms": "5"}
        node.manager.config = BrokerConfig.from_properties(settings)  # one thread is enough
        while len(node.cleaner._tasks) > 1:
            await pause(node)

    async def send_together(send: Callable[..., Awaitable[None]], *arguments: object) -> None:
        together.append(Deferred())
        if len(node.cleaner.state.in_progress) == 2:
            for each in together:
                each.resolve(None)
        await together[-1]
        await send(*arguments)

    run(node, script)
    checkpoint = (tmp_path / "cleaner-offset-checkpoint").read_text()
    assert sorted(checkpoint.splitlines()[2:]) == [
        f"accounts 0 {logs[0].active.base_offset}",
        f"others 1 {logs[1].active.base_offset}",
    ]


@pytest.mark.parametrize("key", ["log.cleaner.threads", "log.cleaner.io.max.bytes.per.second"])
def test_no_threads_or_no_throughput_is_a_pause(tmp_path: Path, key: str) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="5", **{key.replace(".", "_"): "0"})
    node.log()

    async def script(node: Node) -> None:
        node.cleaner.start()
        await pause(node, 50)
        assert not node.cleaner.state.first_dirty
        node.manager.on_config(
            node.manager.config.with_dynamic({key: "1e9" if "bytes" in key else "1"}, {})
        )
        while ACCOUNTS not in node.cleaner.state.first_dirty:
            await pause(node)

    run(node, script)


def test_a_long_pause_ends_when_it_becomes_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaner_driver, "LONGEST_NAP_MS", 10)
    node = Node(tmp_path, log_cleaner_backoff_ms="3600000")

    async def script(node: Node) -> None:
        node.cleaner.start()
        await pause(node, 50)  # it found nothing to do
        node.log()
        shorter = node.manager.config.with_dynamic({"log.cleaner.backoff.ms": "0"}, {})
        node.manager.on_config(shorter)
        while ACCOUNTS not in node.cleaner.state.first_dirty:
            await pause(node)

    run(node, script)


def test_an_uncleanable_log_is_marked_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(tmp_path)
    log, other = node.log(), node.log(OTHERS)
    path = Path(log.segments[1].file.path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)

    async def script(node: Node) -> None:
        while await node.cleaner.clean_one():
            assert not node.cleaner.state.in_progress

    with caplog.at_level(logging.ERROR):
        run(node, script)
    assert node.cleaner.state.uncleanable == {ACCOUNTS}
    assert node.cleaner.state.first_dirty == {OTHERS: other.active.base_offset}
    assert str(path) in caplog.text
    assert not list(path.parent.glob("*.cleaned"))


def test_a_log_that_cannot_be_looked_at_does_not_end_the_cleaner(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="10")
    log, other = node.log(), node.log(OTHERS)
    log.config.max_compaction_lag_ms = 1000
    path = Path(log.segments[0].file.path)
    content = bytearray(path.read_bytes())
    content[8:12] = b"\x7f\xff\xff\xff"
    path.write_bytes(content)
    log.segments[0].first_timestamp = None

    async def script(node: Node) -> None:
        node.cleaner.start()
        while OTHERS not in node.cleaner.state.first_dirty:
            await pause(node)

    with caplog.at_level(logging.ERROR):
        run(node, script)
    assert node.cleaner.state.uncleanable == {ACCOUNTS}
    assert node.cleaner.state.first_dirty == {OTHERS: other.active.base_offset}
    assert f"{path} is corrupt at position 0" in caplog.text


@pytest.mark.parametrize("when", ["group", "done"])
def test_a_topic_deleted_meanwhile(tmp_path: Path, when: str) -> None:
    """Before its segments are swapped, or between the last swap and the end of the round."""
    node = Node(tmp_path, log_cleaner_backoff_ms="0")
    log = node.log()

    async def script(node: Node) -> None:
        worker = node.cleaner.worker(0)
        real_receive = worker.receive

        async def receive() -> object:
            message = await real_receive()
            if message is not None and when in message and node.manager.get(ACCOUNTS) is log:
                node.manager.delete(ACCOUNTS)
            return message

        worker.receive = receive  # type: ignore[assignment, method-assign]
        assert await node.cleaner.clean_one()
        assert node.cleaner.state.first_dirty == {}

    run(node, script)
    assert node.failures == []


@pytest.mark.parametrize("when", ["before", "group", "done"])
def test_a_log_that_is_being_copied_is_not_cleaned(tmp_path: Path, when: str) -> None:
    """The copy holds what was there before: it must not inherit that it is clean."""
    (tmp_path / "b").mkdir()
    node = Node(tmp_path / "a", log_dirs=f"{tmp_path}/a,{tmp_path}/b", log_cleaner_backoff_ms="0")
    log = node.log()
    paths = [each.path for each in node.manager.directories]
    (elsewhere,) = (path for path in paths if path != log.log_directory)

    async def script(node: Node) -> None:
        if when == "before":
            node.manager.moves.create_copy(ACCOUNTS, elsewhere)
            assert not await node.cleaner.clean_one()
        else:
            worker = node.cleaner.worker(0)
            real_receive = worker.receive

            async def receive() -> object:
                message = await real_receive()
                if message is not None and when in message:
                    node.manager.moves.create_copy(ACCOUNTS, elsewhere)
                    worker.receive = real_receive  # type: ignore[method-assign]
                return message

            worker.receive = receive  # type: ignore[assignment, method-assign]
            assert await node.cleaner.clean_one()
        assert node.cleaner.state.first_dirty.get(ACCOUNTS, 0) == 0
        node.manager.moves.drop_copy(ACCOUNTS)
        assert await node.cleaner.clean_one()
        assert node.cleaner.state.first_dirty[ACCOUNTS] == log.active.base_offset

    run(node, script)


def test_a_log_truncated_meanwhile_keeps_its_new_records(tmp_path: Path) -> None:
    """Its segments may be as long as before, with records of another leader."""
    node = Node(tmp_path, log_cleaner_backoff_ms="0")
    log = node.log()
    sizes = [segment.size for segment in log.segments]

    async def script(node: Node) -> None:
        worker = node.cleaner.worker(0)
        real_receive = worker.receive

        async def receive() -> object:
            message = await real_receive()
            if message is not None and "group" in message:
                log.truncate_to(0)
                writer = Writer(log)
                for number in range(40):
                    key = b"q%d" % (number % 4)
                    writer.put([(key, b"value %d" % number)], codec=number % 5)
                worker.receive = real_receive  # type: ignore[method-assign]
            return message

        worker.receive = receive  # type: ignore[assignment, method-assign]
        assert await node.cleaner.clean_one()
        assert [segment.size for segment in log.segments] == sizes
        assert {record.key[:1] for record in records(log) if record.key is not None} == {b"q"}
        assert node.cleaner.state.first_dirty.get(ACCOUNTS, 0) == 0
        assert await node.cleaner.clean_one()

    run(node, script)
    kept = [r.key for r in records(log) if r.offset < log.active.base_offset]
    assert sorted(key for key in kept if key) == [b"q0", b"q1", b"q2", b"q3"]


def test_a_log_truncated_while_it_is_read_is_not_taken_for_a_corrupt_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="0")
    log = node.log()

    async def script(node: Node) -> None:
        worker = node.cleaner.worker(0)
        real_send = worker.send

        async def send(job: CompactionJob, bytes_per_second: float) -> None:
            last = list(log.segments)[-2]
            log.truncate_to(last.base_offset + 1)
            await real_send(job, bytes_per_second)

        worker.send = send  # type: ignore[method-assign]
        assert await node.cleaner.clean_one()
        assert node.cleaner.state.first_dirty.get(ACCOUNTS, 0) == 0
        worker.send = real_send  # type: ignore[method-assign]
        assert await node.cleaner.clean_one()

    with caplog.at_level(logging.ERROR):
        run(node, script)
    assert caplog.messages == []
    assert node.cleaner.state.uncleanable == set()
    assert node.cleaner.state.first_dirty == {ACCOUNTS: log.active.base_offset}


def test_a_replica_that_comes_back_is_not_taken_for_clean(tmp_path: Path) -> None:
    """It was moved to another broker and back: its leader's log may not be compacted."""
    node = Node(tmp_path)
    log = node.log()

    async def script(node: Node) -> None:
        assert await node.cleaner.clean_one()
        assert node.cleaner.state.first_dirty[ACCOUNTS] == log.active.base_offset
        node.manager.delete(ACCOUNTS)
        again = node.log()
        assert again.topic_id == log.topic_id
        found = node.cleaner.state.consider(again, again.log_end_offset, NOW)
        assert found is not None
        assert found.first_dirty_offset == 0

    run(node, script)


def test_a_restart_does_not_take_for_clean_what_replaced_truncated_records(
    tmp_path: Path,
) -> None:
    node = Node(tmp_path)
    log, other = node.log(), node.log(OTHERS)

    async def first(node: Node) -> None:
        assert await node.cleaner.clean_one()
        assert await node.cleaner.clean_one()
        log.truncate_to(20)
        writer = Writer(log)
        for _ in range(40):
            writer.put([(b"k", b"other")])
        other.truncate_to(other.active.base_offset)

    run(node, first)
    again = Node(tmp_path)

    async def second(node: Node) -> None:
        assert node.cleaner.state.first_dirty[ACCOUNTS] <= 20
        assert node.cleaner.state.first_dirty[OTHERS] == other.active.base_offset
        found = node.manager.get(ACCOUNTS)
        assert found is not None
        found.truncate_fully_and_start_at(0)
        assert node.cleaner.state.first_dirty[ACCOUNTS] == 0

    run(again, second)
    lines = (tmp_path / "cleaner-offset-checkpoint").read_text().splitlines()
    assert f"others 1 {other.active.base_offset}" in lines
    assert "accounts 0 0" in lines


def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    node = Node(tmp_path, log_cleaner_backoff_ms="0")
    log = node.log()

    async def script(node: Node) -> None:
        worker = node.cleaner.worker(0)
        real_send = worker.send

        async def send_and_die(*arguments: object) -> None:
            await real_send(*arguments)  # type: ignore[arg-type]
            assert worker.process is not None
            worker.process._process.kill()  # type: ignore[attr-defined]
            worker.send = real_send  # type: ignore[method-assign]

        worker.send = send_and_die  # type: ignore[assignment, method-assign]
        while node.cleaner.state.first_dirty.get(ACCOUNTS, 0) != log.active.base_offset:
            assert await node.cleaner.clean_one()

    run(node, script)
    assert not list(Path(log.directory).glob("*.cleaned"))


def test_a_damaged_checkpoint_is_not_fatal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\naccounts 0 x\n")
    node = Node(tmp_path)

    async def script(node: Node) -> None:
        assert node.cleaner.state.first_dirty == {}

    with caplog.at_level(logging.WARNING):
        run(node, script)
    assert "line 3" in caplog.text
